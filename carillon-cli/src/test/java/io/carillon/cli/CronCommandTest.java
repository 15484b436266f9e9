package io.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The output and the error messages of {@code carillon cron}. */
class CronCommandTest {
    @Test
    void explains_in_english_and_lists_the_next_runs_in_local_time_and_utc() {
        CommandResult cron = CommandResult.run("cron", "0 9 * * MON-FRI", "--zone", "Europe/Paris", "-n", "3");

        assertThat(cron).isEqualTo(new CommandResult(0, """
                0 9 * * MON-FRI  (Europe/Paris)
                At 09:00 on Monday to Friday.

                LOCAL TIME               OFFSET  UTC
                Tue 2026-06-02 09:00:00  +02:00  2026-06-02T07:00:00Z
                Wed 2026-06-03 09:00:00  +02:00  2026-06-03T07:00:00Z
                Thu 2026-06-04 09:00:00  +02:00  2026-06-04T07:00:00Z
                """, ""));
    }

    @Test
    void shows_ten_runs_in_utc_from_now_by_default() {
        CommandResult cron = CommandResult.run("cron", "@hourly");

        assertThat(cron.out()).startsWith("@hourly  (UTC)\n");
        assertThat(cron.out().lines().skip(4))
                .hasSize(10)
                .first()
                .isEqualTo("Mon 2026-06-01 13:00:00  +00:00  2026-06-01T13:00:00Z");
    }

    @Test
    void marks_a_run_that_a_clock_change_moves() {
        CommandResult cron = inParis("30 2 * * *", "2026-03-28T12:00:00Z", "2");

        assertThat(cron.out()).endsWith("""
                Sun 2026-03-29 03:00:00  +02:00  2026-03-29T01:00:00Z  moved from 02:30
                Mon 2026-03-30 02:30:00  +02:00  2026-03-30T00:30:00Z

                moved    the clocks skip this time of day; the run starts right after the gap
                """);
    }

    @Test
    void marks_a_run_that_a_clock_change_drops() {
        CommandResult cron = inParis("*/30 * * * *", "2026-03-29T00:00:00Z", "2");

        assertThat(cron.out()).endsWith("""
                Sun 2026-03-29 01:30:00  +01:00  2026-03-29T00:30:00Z
                Sun 2026-03-29 02:00:00  -       -                     dropped
                Sun 2026-03-29 03:00:00  +02:00  2026-03-29T01:00:00Z

                dropped  the clocks skip this time of day; there is no run
                """);
    }

    @Test
    void marks_runs_that_a_clock_change_doubles() {
        CommandResult cron = inParis("0 * * * *", "2026-10-24T23:00:00Z", "3");

        assertThat(cron.out()).endsWith("""
                Sun 2026-10-25 02:00:00  +02:00  2026-10-25T00:00:00Z  doubled
                Sun 2026-10-25 02:00:00  +01:00  2026-10-25T01:00:00Z  doubled
                Sun 2026-10-25 03:00:00  +01:00  2026-10-25T02:00:00Z

                doubled  the clocks show this time of day twice; there are two runs
                """);
    }

    @Test
    void shows_the_date_when_a_run_moves_to_another_day() {
        CommandResult cron = CommandResult.run(
                "cron", "30 23 * * *", "-z", "America/Nuuk", "--after", "2026-03-28T12:00:00Z", "-n", "1");

        assertThat(cron.out())
                .contains("Sun 2026-03-29 00:00:00  -01:00  2026-03-29T01:00:00Z  moved from 2026-03-28 23:30");
    }

    @Test
    void prints_json_for_programs() throws Exception {
        CommandResult cron = CommandResult.run(
                "cron",
                "30 2 * * *",
                "-z",
                "Europe/Paris",
                "--after",
                "2026-03-28T12:00:00+01:00",
                "-n",
                "2",
                "-o",
                "json");
        JsonNode json = JsonMapper.builder().build().readTree(cron.out());

        assertThat(cron.exitCode()).isZero();
        assertThat(json.propertyNames()).containsExactly("expression", "zone", "description", "after", "entries");
        assertThat(json.get("expression").asString()).isEqualTo("30 2 * * *");
        assertThat(json.get("zone").asString()).isEqualTo("Europe/Paris");
        assertThat(json.get("description").asString()).isEqualTo("At 02:30 every day");
        assertThat(json.get("after").asString()).isEqualTo("2026-03-28T11:00:00Z");
        assertThat(json.get("entries")).hasSize(2);
        assertThat(json.get("entries").get(0).toString())
                .isEqualTo("{\"runs\":true,\"planned\":\"2026-03-29T02:30:00\",\"local\":\"2026-03-29T03:00:00+02:00\","
                        + "\"utc\":\"2026-03-29T01:00:00Z\",\"mark\":\"moved\","
                        + "\"why\":\"the clocks skip 02:30; the run starts right after the gap\"}");
        assertThat(json.get("entries").get(1).propertyNames()).containsExactly("runs", "planned", "local", "utc");
    }

    @Test
    void gives_a_dropped_run_no_instant_in_json() throws Exception {
        CommandResult cron = CommandResult.run(
                "cron",
                "*/30 * * * *",
                "-z",
                "Europe/Paris",
                "--after",
                "2026-03-29T00:59:00Z",
                "-n",
                "1",
                "-o",
                "JSON");
        JsonNode dropped =
                JsonMapper.builder().build().readTree(cron.out()).get("entries").get(0);

        assertThat(dropped.propertyNames()).containsExactly("runs", "planned", "mark", "why");
        assertThat(dropped.get("runs").asBoolean()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"61 * * * *, 0", "0 22-2 * * *, 2", "0 2 * * 1 *x, 11", "0 2 * *, 7", "'', 0"})
    void points_at_the_position_of_a_syntax_error(String text, int position) {
        CommandResult wrong = CommandResult.run("cron", text);

        assertThat(wrong.exitCode()).isEqualTo(2);
        assertThat(wrong.out()).isEmpty();
        assertThat(wrong.err())
                .startsWith("""
                        carillon: Invalid cron expression:
                          %s
                          %s^
                        """.formatted(text, " ".repeat(position)))
                .contains("at position " + position + " of \"" + text + "\". ");
    }

    @Test
    void shows_only_the_text_around_the_error_in_a_long_expression() {
        CommandResult wrong = CommandResult.run("cron", "1,".repeat(50) + "77" + ",2".repeat(50) + " * * * *");

        assertThat(wrong.err()).contains("""
                  ...1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,77,2,2,2,2,2,2,2,2,2,2,2,2,2,2...
                                                   ^
                """);
    }

    @Test
    void never_passes_control_characters_on_to_the_terminal() {
        CommandResult wrong = CommandResult.run("cron", "0\t\u001b[31m * * *");

        assertThat(wrong.exitCode()).isEqualTo(2);
        assertThat(wrong.err()).contains("  0 ?[31m * * *\n").doesNotContain("\u001b");
    }

    @Test
    void an_at_sign_is_part_of_the_expression_and_not_an_argument_file() {
        assertThat(CommandResult.run("cron", "@@daily").err()).contains("\n  @@daily\n");
    }

    @Test
    void refuses_an_expression_that_never_runs() {
        CommandResult never = CommandResult.run("cron", "0 0 31 2 *");

        assertThat(never.exitCode()).isEqualTo(2);
        assertThat(never.err())
                .contains("'0 0 31 2 *' (", "has no run after 2026-06-01T12:00:00Z", "Choose days that exist");
    }

    @Test
    void asks_for_quotes_when_the_shell_has_split_the_expression() {
        CommandResult split = CommandResult.run("cron", "0", "2", "1", "1", "1");

        assertThat(split.exitCode()).isEqualTo(2);
        assertThat(split.err()).contains("Put it in quotes");
    }

    @Test
    void suggests_the_nearest_zone() {
        CommandResult unknown = CommandResult.run("cron", "@daily", "-z", "Europe/Pariss");

        assertThat(unknown.exitCode()).isEqualTo(2);
        assertThat(unknown.err()).contains("No time zone is named 'Europe/Pariss'", "Did you mean 'Europe/Paris'?");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "tomorrow",
                "2026-03-28",
                "2026-03-28T00:00:00",
                "2026-02-30T00:00:00Z",
                "+1000000-01-01T00:00:00Z"
            })
    void rejects_an_invalid_instant(String after) {
        CommandResult wrong = CommandResult.run("cron", "@daily", "--after", after);

        assertThat(wrong.exitCode()).isEqualTo(2);
        assertThat(wrong.err()).contains("--after must be an instant", "(was '" + after + "')", "2026-03-28T00:00:00Z");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "1001", "many"})
    void refuses_counts_out_of_range(String count) {
        assertThat(CommandResult.run("cron", "@daily", "--count=" + count).exitCode())
                .isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-5 * * * *", "--5 * * * *", "-n5 * * * *", "-h * * * *", "-o * * * *"})
    void an_expression_that_begins_with_a_hyphen_is_not_an_option(String expression) {
        CommandResult cron = CommandResult.run("cron", expression, "--zone", "Europe/Paris");

        assertThat(cron.exitCode()).isEqualTo(2);
        assertThat(cron.err()).startsWith("carillon: Invalid cron expression:\n  " + expression + "\n  ^\n");
    }

    @Test
    void fields_without_quotes_are_not_options() {
        assertThat(CommandResult.run("cron", "-5", "*", "*", "*", "*").err()).contains("Put it in quotes");
    }

    @ParameterizedTest
    @CsvSource({"--zoen,Did you mean '--zone'?", "-x,See", "--after-all=3,See"})
    void text_that_resembles_an_option_is_an_unknown_option(String word, String hint) {
        CommandResult cron = CommandResult.run("cron", word, "Europe/Paris", "0 2 * * *");

        assertThat(cron.exitCode()).isEqualTo(2);
        assertThat(cron.err())
                .startsWith("carillon: Unknown option '" + word.replace("=3", "") + "'.")
                .contains(hint);
    }

    private static CommandResult inParis(String expression, String after, String count) {
        return CommandResult.run("cron", expression, "--zone", "Europe/Paris", "--after", after, "--count", count);
    }
}
