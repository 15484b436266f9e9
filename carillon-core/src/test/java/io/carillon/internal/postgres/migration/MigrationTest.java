package io.carillon.internal.postgres.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class MigrationTest {
    @Test
    void reads_number_name_and_header() {
        Migration file = Migration.parse("0012_add_audit.sql", "-- min_code: 9\nSELECT 1;\n");

        assertThat(file.number()).isEqualTo(12);
        assertThat(file.name()).isEqualTo("add_audit");
        assertThat(file.minCode()).isEqualTo(9);
        assertThat(file.transactional()).isTrue();
        assertThat(file.file()).isEqualTo("0012_add_audit.sql");
    }

    @Test
    void runs_outside_a_transaction_only_where_the_second_line_says_so() {
        String body = "CREATE INDEX CONCURRENTLY a ON carillon.run (id);\n";

        assertThat(Migration.parse("0002_a.sql", "-- min_code: 1\n-- transaction: off\n" + body)
                        .transactional())
                .isFalse();
        assertThat(Migration.parse("0002_a.sql", "-- min_code: 1\n" + body + "-- transaction: off\n")
                        .transactional())
                .isTrue();
    }

    @Test
    void has_the_same_checksum_for_all_line_endings() {
        Migration unix = Migration.parse("0001_a.sql", "-- min_code: 1\nSELECT 1;\n");
        Migration windows = Migration.parse("0001_a.sql", "-- min_code: 1\r\nSELECT 1;\r\n");
        Migration other = Migration.parse("0001_a.sql", "-- min_code: 1\nSELECT 2;\n");

        assertThat(windows.checksum()).isEqualTo(unix.checksum()).hasSize(64);
        assertThat(other.checksum()).isNotEqualTo(unix.checksum());
    }

    @Test
    void refuses_a_file_without_a_proper_name_or_header() {
        assertThatThrownBy(() -> Migration.parse("1_a.sql", "-- min_code: 1\n")).hasMessageContaining("NNNN_name.sql");
        assertThatThrownBy(() -> Migration.parse("0001_a.sql", "SELECT 1;\n-- min_code: 1\n"))
                .hasMessageContaining("-- min_code: N");
        assertThatThrownBy(() -> Migration.parse("0001_a.sql", "-- min_code: 2\n"))
                .hasMessageContaining("between 1 and 1 (was 2)");
    }
}
