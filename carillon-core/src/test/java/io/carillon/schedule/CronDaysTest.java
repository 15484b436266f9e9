package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The matching days: the two day fields, the ends of months, leap years. */
class CronDaysTest {

    @ParameterizedTest(name = "{0} after {1}")
    @CsvSource(delimiter = '|', textBlock = """
        # day month weekday | after      | next       | then
        L * *               | 2023-02-01 | 2023-02-28 | 2023-03-31
        L 2 *               | 2024-02-01 | 2024-02-29 | 2025-02-28
        L-1 * *             | 2024-02-01 | 2024-02-28 | 2024-03-30
        L-30 * *            | 2024-01-31 | 2024-03-01 | 2024-05-01
        L-0 * *             | 2024-04-01 | 2024-04-30 | 2024-05-31
        LW * *              | 2024-03-01 | 2024-03-29 | 2024-04-30
        lw * *              | 2024-06-01 | 2024-06-28 | 2024-07-31
        15W * *             | 2024-06-01 | 2024-06-14 | 2024-07-15
        15W * *             | 2024-09-01 | 2024-09-16 | 2024-10-15
        1W * *              | 2024-06-01 | 2024-06-03 | 2024-07-01
        31W * *             | 2024-03-01 | 2024-03-29 | 2024-05-31
        30W * *             | 2024-01-31 | 2024-03-29 | 2024-04-30
        1,L * *             | 2024-02-01 | 2024-02-29 | 2024-03-01
        */10 * *            | 2024-02-01 | 2024-02-11 | 2024-02-21
        */99 * *            | 2024-02-02 | 2024-03-01 | 2024-04-01
        29/99 * *           | 2023-02-02 | 2023-03-29 | 2023-04-29
        * * FRIL            | 2024-03-01 | 2024-03-29 | 2024-04-26
        * * 0L              | 2024-03-01 | 2024-03-31 | 2024-04-28
        * * 7l              | 2024-03-01 | 2024-03-31 | 2024-04-28
        * * MON#2           | 2024-03-01 | 2024-03-11 | 2024-04-08
        * * 5#5             | 2024-03-01 | 2024-03-29 | 2024-05-31
        * * 7#1             | 2024-03-01 | 2024-03-03 | 2024-04-07
        * * MON-FRI/2       | 2024-03-01 | 2024-03-04 | 2024-03-06
        * * FRI-SUN         | 2024-03-02 | 2024-03-03 | 2024-03-08
        * * SUN-TUE         | 2024-03-02 | 2024-03-03 | 2024-03-04
        * * sun-sun         | 2024-03-03 | 2024-03-10 | 2024-03-17
        * * 5-7             | 2024-03-02 | 2024-03-03 | 2024-03-08
        * * 6/1             | 2024-03-01 | 2024-03-02 | 2024-03-03
        ? * MON             | 2024-03-01 | 2024-03-04 | 2024-03-11
        13 * ?              | 2024-03-01 | 2024-03-13 | 2024-04-13
        """)
    void finds_the_day(String days, LocalDate after, LocalDate next, LocalDate then) {
        assertThat(nextDay("0 12 " + days, after)).contains(next);
        assertThat(nextDay("0 12 " + days, next)).contains(then);
    }

    @Test
    void a_day_matches_either_field_when_both_are_restricted() {
        assertThat(nextDay("0 12 13 * FRI", day("2024-03-01"))).contains(day("2024-03-08"));
        assertThat(nextDay("0 12 13 * FRI", day("2024-03-08"))).contains(day("2024-03-13"));
        assertThat(nextDay("0 12 13,* * FRI", day("2024-03-13"))).contains(day("2024-03-14"));
    }

    @Test
    void both_day_fields_must_match_when_one_starts_with_a_star() {
        assertThat(nextDay("0 12 13 * */5", day("2024-03-01"))).contains(day("2024-09-13"));
        assertThat(nextDay("0 12 */2 * MON", day("2024-03-04"))).contains(day("2024-03-11"));
        assertThat(nextDay("0 12 */2 * MON", day("2024-03-11"))).contains(day("2024-03-25"));
        assertThat(nextDay("0 12 *,13 * FRI", day("2024-03-08"))).contains(day("2024-03-15"));
    }

    @Test
    void leap_days_are_found_across_a_century_without_one() {
        assertThat(nextDay("0 12 29 2 *", day("2096-02-29"))).contains(day("2104-02-29"));
        assertThat(nextDay("0 12 29 2 *", day("1996-02-29"))).contains(day("2000-02-29"));
        // A leap day on a Sunday: 28 years apart, 40 around most turns of a century.
        assertThat(nextDay("0 12 29 2 */7", day("2004-02-29"))).contains(day("2032-02-29"));
        assertThat(nextDay("0 12 29 2 */7", day("2088-02-29"))).contains(day("2128-02-29"));
    }

    @Test
    void a_leap_day_or_a_monday_is_found_without_a_long_search() {
        assertThat(nextDay("0 0 29 2 1", day("2024-02-26"))).contains(day("2024-02-29"));
        assertThat(nextDay("0 0 29 2 1", day("2024-02-29"))).contains(day("2025-02-03"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0 0 30 2 *",
                "0 0 31 2 *",
                "0 0 31 4 *",
                "0 0 31 2,4,6,9,11 *",
                "0 0 30W 2 *",
                "0 0 L-29 2 *",
                "0 0 L-30 4,6 *",
                "0 0 30 2 */2",
                "* * 31 11 *"
            })
    void impossible_dates_never_fire(String never) {
        CronExpression cron = CronExpression.parse(never);

        assertThat(cron.times().isEmpty()).isTrue();
        assertThat(cron.next(Instant.EPOCH, ZoneOffset.UTC)).isEmpty();
        assertThat(cron.describe()).endsWith("(never: there is no such date)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0 0 30 2 1", "0 0 29 2 *", "0 0 L-28 2 *", "0 0 31 1-12 *", "0 0 29W 2 *", "0 0 * 2 5#5"})
    void rare_dates_fire(String rare) {
        assertThat(CronExpression.parse(rare).times().isEmpty()).isFalse();
        assertThat(CronExpression.parse(rare).next(Instant.EPOCH, ZoneOffset.UTC))
                .isPresent();
    }

    private static LocalDate day(String text) {
        return LocalDate.parse(text);
    }

    /** Returns the day of the first run after the end of the given day. */
    private static Optional<LocalDate> nextDay(String cron, LocalDate after) {
        Instant end = after.plusDays(1).atStartOfDay().toInstant(ZoneOffset.UTC).minusSeconds(1);
        return CronExpression.parse(cron)
                .next(end, ZoneOffset.UTC)
                .map(instant -> instant.atZone(ZoneOffset.UTC).toLocalDate());
    }
}
