package io.carillon.internal.postgres.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.postgres.migration.SchemaState.Applied;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class SchemaStateTest {
    private final Migration first = Migration.parse("0001_one.sql", "-- min_code: 1\nSELECT 1;\n");
    private final Migration second = Migration.parse("0002_two.sql", "-- min_code: 1\nSELECT 2;\n");
    private final Migration third = Migration.parse("0003_three.sql", "-- min_code: 3\nSELECT 3;\n");

    @Test
    void finds_everything_pending_in_an_empty_database() {
        assertThat(state().pending(List.of(first, second))).containsExactly(first, second);
        assertThat(state().number()).isZero();
    }

    @Test
    void finds_only_what_is_missing() {
        assertThat(state(first).pending(List.of(first, second))).containsExactly(second);
        assertThat(state(first, second).pending(List.of(first, second))).isEmpty();
    }

    @Test
    void accepts_a_newer_schema_that_still_allows_this_code() {
        assertThat(state(first, second).pending(List.of(first))).isEmpty();
    }

    @Test
    void refuses_a_newer_schema_that_asks_for_newer_code() {
        refuses(
                ErrorCode.SCHEMA_TOO_NEW,
                state(first, second, third),
                "0003_three needs a release with schema version 3 or later");
    }

    @Test
    void refuses_a_file_that_changed_after_it_was_applied() {
        SchemaState edited = new SchemaState(List.of(new Applied(1, "one", "0123456789abcdef", 1)));

        refuses(ErrorCode.SCHEMA_CHANGED, edited, "0001_one.sql");
    }

    @Test
    void refuses_the_schema_of_a_pre_release_even_if_it_asks_for_newer_code() {
        SchemaState old = new SchemaState(List.of(
                new Applied(1, "foundation", "0123456789abcdef", 1), new Applied(26, "last", "0123456789abcdef", 26)));

        refuses(ErrorCode.SCHEMA_CHANGED, old, "created by a pre-release of Carillon");
    }

    @Test
    void refuses_a_name_that_differs_from_the_one_applied() {
        SchemaState renamed = new SchemaState(List.of(new Applied(1, "foundation", first.checksum(), 1)));

        refuses(ErrorCode.SCHEMA_CHANGED, renamed, "applied as 0001_foundation");
    }

    @Test
    void refuses_a_missing_number_below_the_newest() {
        refuses(ErrorCode.SCHEMA_CHANGED, state(second), "0001_one.sql is missing");
    }

    private void refuses(ErrorCode code, SchemaState state, String named) {
        assertThatExceptionOfType(CarillonException.class)
                .isThrownBy(() -> state.pending(List.of(first, second)))
                .withMessageContaining(named)
                .satisfies(e -> assertThat(e.code()).isEqualTo(code));
    }

    private static SchemaState state(Migration... applied) {
        return new SchemaState(Arrays.stream(applied)
                .map(file -> new Applied(file.number(), file.name(), file.checksum(), file.minCode()))
                .toList());
    }
}
