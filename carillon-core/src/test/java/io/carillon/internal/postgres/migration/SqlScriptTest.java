package io.carillon.internal.postgres.migration;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SqlScriptTest {
    @Test
    void splits_at_semicolons_and_leaves_out_what_is_only_comment() {
        assertThat(SqlScript.statements("-- a; b\nSELECT 1;\n/* c; d */ SELECT 2 ;\n-- the end"))
                .containsExactly("SELECT 1", "SELECT 2");
    }

    @Test
    void keeps_semicolons_in_texts_and_names() {
        assertThat(SqlScript.statements("SELECT 'a;''b;' AS \"c;\"\"d\"; SELECT $$ x; $$, $q$ y; $$ z; $q$"))
                .containsExactly("SELECT 'a;''b;' AS \"c;\"\"d\"", "SELECT $$ x; $$, $q$ y; $$ z; $q$");
    }

    @Test
    void replaces_a_comment_by_a_space() {
        assertThat(SqlScript.statements("SELECT/* x */1")).containsExactly("SELECT 1");
    }
}
