package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.carillon.schedule.DstPolicy.Gap;
import io.carillon.schedule.DstPolicy.Repeat;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The earliest and latest instants, and fractions of seconds. */
class CronLimitsTest {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        0 0 1 1 *     | UTC              | 9998-06-01T00:00:00Z   | 9999-01-01T00:00:00Z
        0 0 1 1 *     | UTC              | 9999-06-01T00:00:00Z   | +10000-01-01T00:00:00Z
        59 23 31 12 * | UTC              | 9999-12-31T23:59:00Z   | +10000-12-31T23:59:00Z
        30 2 * * *    | Europe/Berlin    | 9999-12-31T23:59:59Z   | +10000-01-01T01:30:00Z
        30 2 * * *    | Europe/Berlin    | +10000-07-01T00:00:00Z | +10000-07-01T00:30:00Z
        0 12 * * *    | Europe/Berlin    | 1890-06-01T00:00:00Z   | 1890-06-01T11:06:32Z
        0 0 1 1 *     | UTC              | 1969-12-31T23:59:59Z   | 1970-01-01T00:00:00Z
        0 0 1 1 *     | UTC              | 1968-12-31T23:59:59Z   | 1969-01-01T00:00:00Z
        0 0 29 2 *    | UTC              | -0001-03-01T00:00:00Z  | 0000-02-29T00:00:00Z
        0 0 1 1 *     | UTC              | -5000-01-01T00:00:00Z  | -4999-01-01T00:00:00Z
        0 0 1 1 *     | America/New_York | -5000-01-01T06:00:00Z  | -4999-01-01T04:56:02Z
        """)
    void far_years_work_like_near_years(String cron, String zone, Instant after, Instant next) {
        assertThat(CronExpression.parse(cron).next(after, ZoneId.of(zone))).contains(next);
    }

    @ParameterizedTest
    @MethodSource("io.carillon.schedule.TestZones#zonesWithClockChanges")
    void the_earliest_and_latest_instants_are_handled_in_every_zone(String zone) {
        for (String text : List.of("* * * * * *", "30 2 * * *", "0 0 29 2 *", "0 0 31 2 *", "0 0 1 1 */7")) {
            CronExpression cron = CronExpression.parse(text);
            assertThat(cron.next(Instant.MAX, ZoneId.of(zone))).isEmpty();
            assertThat(cron.next(Instant.MAX.minusSeconds(1), ZoneId.of(zone))).isEmpty();
            assertThat(cron.next(Instant.ofEpochSecond(WallTimes.LATEST), ZoneId.of(zone)))
                    .isEmpty();
            assertThat(cron.next(Instant.MIN, ZoneId.of(zone)).isPresent())
                    .isEqualTo(!cron.times().isEmpty());
        }
    }

    @Test
    void near_the_last_day_the_search_ends_instead_of_leaving_the_calendar() {
        Instant nearEnd = Instant.ofEpochSecond(WallTimes.LATEST).minusSeconds(3 * WallTimes.DAY);

        assertThat(CronExpression.parse("0 0 1 1 *").next(nearEnd, BERLIN)).isEmpty();
        assertThat(CronExpression.parse("0 0 * * *").next(nearEnd, BERLIN)).isPresent();
    }

    @Test
    void fractions_of_a_second_never_give_an_earlier_instant() {
        CronExpression everySecond = CronExpression.parse("* * * * * *");
        Instant whole = Instant.parse("2024-05-01T10:00:00Z");

        assertThat(everySecond.next(whole, BERLIN)).contains(whole.plusSeconds(1));
        assertThat(everySecond.next(whole.plusNanos(1), BERLIN)).contains(whole.plusSeconds(1));
        assertThat(everySecond.next(whole.plusNanos(999_999_999), BERLIN)).contains(whole.plusSeconds(1));
        assertThat(everySecond.next(whole.minusNanos(1), BERLIN)).contains(whole);
        assertThat(everySecond.next(Instant.ofEpochSecond(-1, 5), BERLIN)).contains(Instant.EPOCH);
    }

    @Test
    void the_search_for_a_time_in_a_gap_of_every_year_ends_after_one_calendar_cycle() {
        DstPolicy skip = new DstPolicy(Gap.SKIP, Repeat.FIRST);
        Instant after = Instant.parse("2026-01-01T00:00:00Z");

        assertThat(CronExpression.parse("30 2 * 3 SUNL").next(after, BERLIN, skip))
                .isEmpty();
        assertThat(CronExpression.parse("* 2 * 3 SUNL").next(after, BERLIN)).isEmpty();
        assertThat(CronExpression.parse("30 2 * 3 SUNL").next(after, BERLIN))
                .contains(Instant.parse("2026-03-29T01:00:00Z"));
    }

    @Test
    void nothing_may_be_null() {
        CronExpression cron = CronExpression.parse("* * * * *");

        assertThatNullPointerException().isThrownBy(() -> CronExpression.parse(null));
        assertThatNullPointerException().isThrownBy(() -> cron.next(null, BERLIN));
        assertThatNullPointerException().isThrownBy(() -> cron.next(Instant.EPOCH, null));
        assertThatNullPointerException().isThrownBy(() -> cron.next(Instant.EPOCH, BERLIN, null));
        assertThatNullPointerException().isThrownBy(() -> new DstPolicy(null, Repeat.FIRST));
        assertThatNullPointerException().isThrownBy(() -> new DstPolicy(Gap.SKIP, null));
    }
}
