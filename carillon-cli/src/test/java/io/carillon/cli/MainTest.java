package io.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command around its subcommands: help, version, and words that are not understood. */
class MainTest {
    @Test
    void tells_its_version_and_what_it_runs_on() {
        Called version = Called.carillon("--version");

        assertThat(version.exit()).isZero();
        assertThat(version.out().lines().toList()).hasSize(2).first().asString().startsWith("carillon ");
        assertThat(version.out()).contains("Java " + System.getProperty("java.version"));
    }

    @Test
    void shows_its_help_when_asked_and_when_nothing_is_said() {
        Called asked = Called.carillon("--help");

        assertThat(asked.exit()).isZero();
        assertThat(asked.out()).startsWith("Usage: carillon").contains("  dev ", "  cron ", "  migrate ");
        assertThat(Called.carillon()).isEqualTo(asked);
    }

    @ParameterizedTest
    @CsvSource({"dev", "cron", "migrate"})
    void every_subcommand_has_help(String command) {
        Called help = Called.carillon(command, "--help");

        assertThat(help.exit()).isZero();
        assertThat(help.out()).startsWith("Usage: carillon " + command);
        assertThat(help.err()).isEmpty();
    }

    @Test
    void suggests_the_nearest_command() {
        Called unknown = Called.carillon("corn", "* * * * *");

        assertThat(unknown).isEqualTo(new Called(2, "", """
                        carillon: Unknown command 'corn'. Did you mean 'cron'?
                        See 'carillon --help'.
                        """));
    }

    @Test
    void suggests_nothing_that_is_far_away() {
        assertThat(Called.carillon("brew").err()).startsWith("carillon: Unknown command 'brew'.\n");
    }

    @Test
    void suggests_the_nearest_option() {
        Called unknown = Called.carillon("cron", "* * * * *", "--zoen=UTC");

        assertThat(unknown).isEqualTo(new Called(2, "", """
                        carillon: Unknown option '--zoen'. Did you mean '--zone'?
                        See 'carillon cron --help'.
                        """));
    }

    @Test
    void refuses_words_that_a_subcommand_cannot_use() {
        Called extra = Called.carillon("migrate", "up");

        assertThat(extra.exit()).isEqualTo(2);
        assertThat(extra.err()).startsWith("carillon: Nothing is known to do with 'up' here.");
    }

    @Test
    void asks_which_database_to_migrate() {
        Called nowhere = Called.carillon("migrate");

        assertThat(nowhere.exit()).isEqualTo(2);
        assertThat(nowhere.err()).contains("--database-url", "DATABASE_URL");
    }

    @Test
    void prints_the_sql_of_all_migrations_without_a_database() {
        Called printed = Called.carillon("migrate", "--print");

        assertThat(printed.exit()).isZero();
        assertThat(printed.out()).startsWith("-- Carillon: migrations 1 to ").contains("CREATE TABLE carillon.run (");
        assertThat(printed.err()).isEmpty();
    }

    @Test
    void refuses_to_print_and_to_validate_at_once() {
        assertThat(Called.carillon("migrate", "--print", "--validate").exit()).isEqualTo(2);
    }

    @Test
    void keeps_the_password_out_of_what_it_says_about_an_address() {
        for (String url :
                List.of("postgres://me:s3cret@host:x/db", "postgres://me:s3cret@ho st/db", "ftp://me:s3cret@h/d")) {
            Called wrong = Called.with(Map.of("DATABASE_URL", url), "migrate");

            assertThat(wrong.exit()).as(url).isEqualTo(2);
            assertThat(wrong.err()).as(url).doesNotContain("s3cret").contains("postgres://user:password@host");
        }
    }
}
