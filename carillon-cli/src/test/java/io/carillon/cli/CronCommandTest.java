package io.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code carillon cron}: what it answers, and how it says that it cannot. */
class CronCommandTest {
    @Test
    void explains_in_english_and_lists_the_next_runs_in_both_times() {
        Called cron = Called.carillon("cron", "0 9 * * MON-FRI", "--zone", "Europe/Paris", "-n", "3");

        assertThat(cron).isEqualTo(new Called(0, """
                0 9 * * MON-FRI  (Europe/Paris)
                At 09:00 on Monday to Friday.

                LOCAL TIME               OFFSET  UTC
                Tue 2026-06-02 09:00:00  +02:00  2026-06-02T07:00:00Z
                Wed 2026-06-03 09:00:00  +02:00  2026-06-03T07:00:00Z
                Thu 2026-06-04 09:00:00  +02:00  2026-06-04T07:00:00Z
                """, ""));
    }

    @Test
    void shows_ten_runs_in_utc_from_now_on_unless_told_otherwise() {
        Called cron = Called.carillon("cron", "@hourly");

        assertThat(cron.out()).startsWith("@hourly  (UTC)\n");
        assertThat(cron.out().lines().skip(4))
                .hasSize(10)
                .first()
                .isEqualTo("Mon 2026-06-01 13:00:00  +00:00  2026-06-01T13:00:00Z");
    }

    @Test
    void marks_a_run_that_the_clocks_move() {
        Called cron = inParis("30 2 * * *", "2026-03-28T12:00:00Z", "2");

        assertThat(cron.out()).endsWith("""
                Sun 2026-03-29 03:00:00  +02:00  2026-03-29T01:00:00Z  moved from 02:30
                Mon 2026-03-30 02:30:00  +02:00  2026-03-30T00:30:00Z

                moved    the clocks skip this time of day, so it runs right after the gap
                """);
    }

    @Test
    void marks_a_run_that_the_clocks_drop() {
        Called cron = inParis("*/30 * * * *", "2026-03-29T00:00:00Z", "2");

        assertThat(cron.out()).endsWith("""
                Sun 2026-03-29 01:30:00  +01:00  2026-03-29T00:30:00Z
                Sun 2026-03-29 02:00:00  -       -                     dropped
                Sun 2026-03-29 03:00:00  +02:00  2026-03-29T01:00:00Z

                dropped  the clocks skip this time of day, so it does not run
                """);
    }

    @Test
    void marks_runs_that_the_clocks_double() {
        Called cron = inParis("0 * * * *", "2026-10-24T23:00:00Z", "3");

        assertThat(cron.out()).endsWith("""
                Sun 2026-10-25 02:00:00  +02:00  2026-10-25T00:00:00Z  doubled
                Sun 2026-10-25 02:00:00  +01:00  2026-10-25T01:00:00Z  doubled
                Sun 2026-10-25 03:00:00  +01:00  2026-10-25T02:00:00Z

                doubled  the clocks show this time of day twice, and it runs both times
                """);
    }

    @Test
    void names_the_day_when_a_run_moves_to_another() {
        Called cron = Called.carillon(
                "cron", "30 23 * * *", "-z", "America/Nuuk", "--after", "2026-03-28T12:00:00Z", "-n", "1");

        assertThat(cron.out())
                .contains("Sun 2026-03-29 00:00:00  -01:00  2026-03-29T01:00:00Z  moved from 2026-03-28 23:30");
    }

    @Test
    void answers_programs_in_json() throws Exception {
        Called cron = Called.carillon(
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

        assertThat(cron.exit()).isZero();
        assertThat(json.propertyNames()).containsExactly("expression", "zone", "description", "after", "entries");
        assertThat(json.get("expression").asString()).isEqualTo("30 2 * * *");
        assertThat(json.get("zone").asString()).isEqualTo("Europe/Paris");
        assertThat(json.get("description").asString()).isEqualTo("At 02:30 every day");
        assertThat(json.get("after").asString()).isEqualTo("2026-03-28T11:00:00Z");
        assertThat(json.get("entries")).hasSize(2);
        assertThat(json.get("entries").get(0).toString())
                .isEqualTo("{\"runs\":true,\"planned\":\"2026-03-29T02:30:00\",\"local\":\"2026-03-29T03:00:00+02:00\","
                        + "\"utc\":\"2026-03-29T01:00:00Z\",\"mark\":\"moved\","
                        + "\"why\":\"the clocks skip 02:30, so it runs right after the gap\"}");
        assertThat(json.get("entries").get(1).propertyNames()).containsExactly("runs", "planned", "local", "utc");
    }

    @Test
    void gives_a_dropped_run_no_instant_in_json() throws Exception {
        Called cron = Called.carillon(
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
    void points_at_the_place_where_an_expression_goes_wrong(String text, int position) {
        Called wrong = Called.carillon("cron", text);

        assertThat(wrong.exit()).isEqualTo(2);
        assertThat(wrong.out()).isEmpty();
        assertThat(wrong.err())
                .startsWith("""
                        carillon: This is no cron expression:
                          %s
                          %s^
                        """.formatted(text, " ".repeat(position)))
                .contains("at position " + position + " of \"" + text + "\". ");
    }

    @Test
    void shows_only_the_neighbourhood_of_the_place_in_a_long_text() {
        Called wrong = Called.carillon("cron", "1,".repeat(50) + "77" + ",2".repeat(50) + " * * * *");

        assertThat(wrong.err()).contains("""
                  ...1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,77,2,2,2,2,2,2,2,2,2,2,2,2,2,2...
                                                   ^
                """);
    }

    @Test
    void never_passes_control_characters_on_to_the_terminal() {
        Called wrong = Called.carillon("cron", "0\t\u001b[31m * * *");

        assertThat(wrong.exit()).isEqualTo(2);
        assertThat(wrong.err()).contains("  0 ?[31m * * *\n").doesNotContain("\u001b");
    }

    @Test
    void takes_an_at_sign_for_a_part_of_the_expression_and_not_for_a_file_of_arguments() {
        assertThat(Called.carillon("cron", "@@daily").err()).contains("\n  @@daily\n");
    }

    @Test
    void refuses_an_expression_that_never_runs() {
        Called never = Called.carillon("cron", "0 0 31 2 *");

        assertThat(never.exit()).isEqualTo(2);
        assertThat(never.err())
                .contains("'0 0 31 2 *' has no run after 2026-06-01T12:00:00Z", "choose days that exist");
    }

    @Test
    void asks_for_quotes_when_the_shell_has_split_the_expression() {
        Called split = Called.carillon("cron", "0", "2", "1", "1", "1");

        assertThat(split.exit()).isEqualTo(2);
        assertThat(split.err()).contains("Put it in quotes");
    }

    @Test
    void suggests_the_nearest_zone() {
        Called unknown = Called.carillon("cron", "@daily", "-z", "Europe/Pariss");

        assertThat(unknown.exit()).isEqualTo(2);
        assertThat(unknown.err()).contains("no time zone 'Europe/Pariss'", "Did you mean 'Europe/Paris'?");
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
    void refuses_what_is_no_instant(String after) {
        Called wrong = Called.carillon("cron", "@daily", "--after", after);

        assertThat(wrong.exit()).isEqualTo(2);
        assertThat(wrong.err()).contains("--after '" + after + "' is no instant", "2026-03-28T00:00:00Z");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "1001", "many"})
    void refuses_counts_that_cannot_be(String count) {
        assertThat(Called.carillon("cron", "@daily", "--count=" + count).exit()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-5 * * * *", "--5 * * * *", "-n5 * * * *", "-h * * * *", "-o * * * *"})
    void an_expression_that_begins_with_a_hyphen_is_no_option(String expression) {
        Called cron = Called.carillon("cron", expression, "--zone", "Europe/Paris");

        assertThat(cron.exit()).isEqualTo(2);
        assertThat(cron.err()).startsWith("carillon: This is no cron expression:\n  " + expression + "\n  ^\n");
    }

    @Test
    void fields_without_quotes_are_no_options_either() {
        assertThat(Called.carillon("cron", "-5", "*", "*", "*", "*").err()).contains("Put it in quotes");
    }

    @ParameterizedTest
    @CsvSource({"--zoen,Did you mean '--zone'?", "-x,See", "--after-all=3,See"})
    void what_only_looks_like_an_option_is_an_unknown_one(String word, String hint) {
        Called cron = Called.carillon("cron", word, "Europe/Paris", "0 2 * * *");

        assertThat(cron.exit()).isEqualTo(2);
        assertThat(cron.err())
                .startsWith("carillon: Unknown option '" + word.replace("=3", "") + "'.")
                .contains(hint);
    }

    private static Called inParis(String expression, String after, String count) {
        return Called.carillon("cron", expression, "--zone", "Europe/Paris", "--after", after, "--count", count);
    }
}
