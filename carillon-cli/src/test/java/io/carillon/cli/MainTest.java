package io.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The root command: help, version, and invalid command lines. */
class MainTest {
    @Test
    void shows_its_version_and_runtime() {
        CommandResult version = CommandResult.run("--version");

        assertThat(version.exitCode()).isZero();
        assertThat(version.out().lines().toList()).hasSize(2).first().asString().startsWith("carillon ");
        assertThat(version.out()).contains("Java " + System.getProperty("java.version"));
    }

    @Test
    void prints_the_help_on_request_and_without_arguments() {
        CommandResult asked = CommandResult.run("--help");

        assertThat(asked.exitCode()).isZero();
        assertThat(asked.out()).startsWith("Usage: carillon").contains("  dev ", "  cron ", "  migrate ");
        assertThat(CommandResult.run()).isEqualTo(asked);
    }

    @Test
    void help_shows_the_help_of_any_command() {
        assertThat(CommandResult.run("help")).isEqualTo(CommandResult.run("--help"));
        CommandResult create = CommandResult.run("help", "schedule", "create");
        assertThat(create.exitCode()).isZero();
        assertThat(create.out()).startsWith("Usage: carillon schedule create ");
        assertThat(CommandResult.run("help", "schedul").err())
                .contains("Did you mean 'schedule'? 'carillon help' lists");
    }

    @Test
    @ResourceLock(Resources.SYSTEM_PROPERTIES)
    void the_help_has_no_control_characters_even_if_the_terminal_has_colors() {
        System.setProperty("picocli.ansi", "true");
        try {
            for (String command : List.of("run", "config", "schedule pause --help", "help run", "--help"))
                assertThat(CommandResult.run(command.split(" ")).out())
                        .as(command)
                        .startsWith("Usage: carillon")
                        .doesNotContain("\\u001b", "\u001b");
        } finally {
            System.clearProperty("picocli.ansi");
        }
    }

    @Test
    void a_usage_line_does_not_list_very_many_options() {
        assertThat(CommandResult.run("schedule", "create", "--help").out())
                .startsWith("Usage: carillon schedule create [OPTIONS] NAME\nCreate a schedule.");
    }

    @Test
    @ResourceLock(Resources.SYSTEM_PROPERTIES)
    void commands_in_messages_work_as_printed() {
        System.setProperty("carillon.command", "./carillon");
        try {
            assertThat(CommandResult.run("--help").out())
                    .startsWith("Usage: ./carillon ")
                    .contains("./carillon cron \"0 2 * * *\"", "source <(./carillon completion bash)")
                    .doesNotContain(" carillon ");
            assertThat(CommandResult.run("run", "get").err()).endsWith("See './carillon run get --help'.\n");
            assertThat(CommandResult.run("run", "list", "--url", "http://127.0.0.1:1")
                            .err())
                    .contains("Start one with './carillon serve' or './carillon dev'");
        } finally {
            System.clearProperty("carillon.command");
        }
    }

    @ParameterizedTest
    @CsvSource({"dev", "cron", "migrate"})
    void every_subcommand_has_help(String command) {
        CommandResult help = CommandResult.run(command, "--help");

        assertThat(help.exitCode()).isZero();
        assertThat(help.out()).startsWith("Usage: carillon " + command);
        assertThat(help.err()).isEmpty();
    }

    @Test
    void suggests_the_nearest_command() {
        CommandResult unknown = CommandResult.run("corn", "* * * * *");

        assertThat(unknown).isEqualTo(new CommandResult(2, "", """
                        carillon: Unknown command 'corn'. Did you mean 'cron'?
                        See 'carillon --help'.
                        """));
    }

    @Test
    void suggests_nothing_when_no_name_is_close() {
        assertThat(CommandResult.run("brew").err()).startsWith("carillon: Unknown command 'brew'.\n");
    }

    @Test
    void suggests_the_nearest_option() {
        CommandResult unknown = CommandResult.run("cron", "* * * * *", "--zoen=UTC");

        assertThat(unknown).isEqualTo(new CommandResult(2, "", """
                        carillon: Unknown option '--zoen'. Did you mean '--zone'?
                        See 'carillon cron --help'.
                        """));
    }

    @Test
    void a_number_that_cannot_be_a_limit_is_rejected_in_plain_words() {
        CommandResult word = CommandResult.run("run", "list", "--limit", "abc");

        assertThat(word.exitCode()).isEqualTo(2);
        assertThat(word.err()).startsWith("carillon: Invalid value for option '--limit': 'abc' is not a whole number");
        for (String list : List.of("run list", "schedule list", "audit list", "event list orders", "bulk list"))
            assertThat(CommandResult.run((list + " --limit 0").split(" ", -1)))
                    .as(list)
                    .isEqualTo(new CommandResult(2, "", "carillon: --limit must be at least 1 (was 0).\n"));
    }

    @Test
    void rejects_an_unexpected_argument() {
        CommandResult extra = CommandResult.run("migrate", "up");

        assertThat(extra.exitCode()).isEqualTo(2);
        assertThat(extra.err()).startsWith("carillon: Unexpected argument 'up'.");
    }

    @Test
    void requires_a_database_to_migrate() {
        CommandResult nowhere = CommandResult.run("migrate");

        assertThat(nowhere.exitCode()).isEqualTo(2);
        assertThat(nowhere.err()).contains("--database-url", "DATABASE_URL");
    }

    @Test
    void prints_the_sql_of_all_migrations_without_a_database() {
        CommandResult printed = CommandResult.run("migrate", "--print");

        assertThat(printed.exitCode()).isZero();
        assertThat(printed.out()).startsWith("-- Carillon: migrations 1 to ").contains("CREATE TABLE carillon.run (");
        assertThat(printed.err()).isEmpty();
    }

    @Test
    void rejects_print_together_with_validate() {
        assertThat(CommandResult.run("migrate", "--print", "--validate").exitCode())
                .isEqualTo(2);
    }

    @Test
    void does_not_print_the_password_of_an_invalid_url() {
        for (String url :
                List.of("postgres://me:s3cret@host:x/db", "postgres://me:s3cret@ho st/db", "ftp://me:s3cret@h/d")) {
            CommandResult wrong = CommandResult.runWith(Map.of("DATABASE_URL", url), "migrate");

            assertThat(wrong.exitCode()).as(url).isEqualTo(2);
            assertThat(wrong.err()).as(url).doesNotContain("s3cret").contains("postgres://user:password@host");
        }
    }
}
