package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.schedule.DstPolicy.Gap;
import io.carillon.schedule.DstPolicy.Repeat;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Daylight saving transitions, one named case each, with manually calculated instants. */
class CronDstTest {

    @ParameterizedTest(name = "{0} in {1} after {2}")
    @CsvSource(delimiter = '|', textBlock = """
        # cron            | zone                | after                | next                 | then
        30 2 * * *        | Europe/Berlin       | 2024-03-30T12:00:00Z | 2024-03-31T01:00:00Z | 2024-04-01T00:30:00Z
        0,15,30 2 * * *   | Europe/Berlin       | 2024-03-30T12:00:00Z | 2024-03-31T01:00:00Z | 2024-04-01T00:00:00Z
        10-50 2 * * *     | Europe/Berlin       | 2024-03-30T12:00:00Z | 2024-03-31T01:00:00Z | 2024-04-01T00:10:00Z
        0,30 2,3 * * *    | Europe/Berlin       | 2024-03-30T12:00:00Z | 2024-03-31T01:00:00Z | 2024-03-31T01:30:00Z
        15 30 2 * * *     | Europe/Berlin       | 2024-03-30T12:00:00Z | 2024-03-31T01:00:00Z | 2024-04-01T00:30:15Z
        30 2 * * *        | Europe/Berlin       | 2024-10-26T12:00:00Z | 2024-10-27T00:30:00Z | 2024-10-28T01:30:00Z
        0,30 2 * * *      | Europe/Berlin       | 2024-10-27T00:00:00Z | 2024-10-27T00:30:00Z | 2024-10-28T01:00:00Z
        @daily            | Europe/Berlin       | 2024-10-26T12:00:00Z | 2024-10-26T22:00:00Z | 2024-10-27T23:00:00Z
        30 2 * * *        | Antarctica/Troll    | 2024-03-30T12:00:00Z | 2024-03-31T01:00:00Z | 2024-04-01T00:30:00Z
        30 1 * * *        | Antarctica/Troll    | 2024-10-26T12:00:00Z | 2024-10-26T23:30:00Z | 2024-10-28T01:30:00Z
        15 2 * * *        | Australia/Lord_Howe | 2024-10-05T00:00:00Z | 2024-10-05T15:30:00Z | 2024-10-06T15:15:00Z
        45 1 * * *        | Australia/Lord_Howe | 2024-04-06T00:00:00Z | 2024-04-06T14:45:00Z | 2024-04-07T15:15:00Z
        0 0 * * *         | Africa/Cairo        | 2024-04-25T12:00:00Z | 2024-04-25T22:00:00Z | 2024-04-26T21:00:00Z
        30 23 * * *       | Africa/Cairo        | 2024-10-31T12:00:00Z | 2024-10-31T20:30:00Z | 2024-11-01T21:30:00Z
        0 0 4 11 *        | America/Sao_Paulo   | 2018-11-01T00:00:00Z | 2018-11-04T03:00:00Z | 2019-11-04T03:00:00Z
        30 23 30 3 *      | America/Nuuk        | 2024-03-01T00:00:00Z | 2024-03-31T01:00:00Z | 2025-03-31T00:30:00Z
        30 0 * * *        | America/Havana      | 2024-11-02T12:00:00Z | 2024-11-03T04:30:00Z | 2024-11-04T05:30:00Z
        30 5 7 10 *       | Antarctica/Casey    | 2018-10-01T00:00:00Z | 2018-10-06T20:00:00Z | 2019-10-06T18:30:00Z
        """)
    void a_fixed_time_runs_exactly_once_by_default(
            String cron, String zone, Instant after, Instant next, Instant then) {
        assertThat(runs(cron, zone, after, DstPolicy.defaults(), 2)).containsExactly(next, then);
    }

    @ParameterizedTest(name = "{0} in {1} after {2}")
    @CsvSource(delimiter = '|', textBlock = """
        */15 2 * * *      | Europe/Berlin    | 2024-03-30T12:00:00Z | 2024-04-01T00:00:00Z | 2024-04-01T00:15:00Z
        */20 * * * *      | Europe/Berlin    | 2024-03-31T00:20:00Z | 2024-03-31T00:40:00Z | 2024-03-31T01:00:00Z
        */30 2 * * *      | Europe/Berlin    | 2024-10-27T00:00:00Z | 2024-10-27T00:30:00Z | 2024-10-27T01:00:00Z
        0 */2 * * *       | Europe/Berlin    | 2024-10-26T23:00:00Z | 2024-10-27T00:00:00Z | 2024-10-27T01:00:00Z
        @hourly           | Europe/Berlin    | 2024-10-26T23:00:00Z | 2024-10-27T00:00:00Z | 2024-10-27T01:00:00Z
        * 59 2 * * *      | Europe/Berlin    | 2024-10-27T00:59:59Z | 2024-10-27T01:59:00Z | 2024-10-27T01:59:01Z
        0 */7 2 * * *     | Europe/Berlin    | 2024-10-27T00:56:00Z | 2024-10-27T01:00:00Z | 2024-10-27T01:07:00Z
        """)
    void a_star_in_front_of_a_time_field_follows_the_clock(
            String cron, String zone, Instant after, Instant next, Instant then) {
        for (Gap gap : Gap.values()) {
            for (Repeat repeat : Repeat.values()) {
                assertThat(runs(cron, zone, after, new DstPolicy(gap, repeat), 2))
                        .containsExactly(next, then);
            }
        }
    }

    @Test
    void quarter_hours_continue_through_both_passes_of_the_repeated_hour() {
        List<Instant> runs =
                runs("*/15 * * * *", "Europe/Berlin", Instant.parse("2024-10-26T23:59:00Z"), DstPolicy.defaults(), 9);

        assertThat(runs.get(0)).isEqualTo("2024-10-27T00:00:00Z");
        assertThat(runs.get(8)).isEqualTo("2024-10-27T02:00:00Z");
    }

    @Test
    void skip_leaves_out_the_day_of_the_gap() {
        DstPolicy skip = new DstPolicy(Gap.SKIP, Repeat.FIRST);

        assertThat(runs("30 2 * * *", "Europe/Berlin", Instant.parse("2024-03-30T12:00:00Z"), skip, 1))
                .containsExactly(Instant.parse("2024-04-01T00:30:00Z"));
    }

    @ParameterizedTest
    @CsvSource({
        "FIRST, 2024-10-27T00:30:00Z, 2024-10-28T01:30:00Z",
        "SECOND, 2024-10-27T01:30:00Z, 2024-10-28T01:30:00Z",
        "BOTH, 2024-10-27T00:30:00Z, 2024-10-27T01:30:00Z"
    })
    void repeat_chooses_the_pass(Repeat repeat, Instant next, Instant then) {
        DstPolicy policy = new DstPolicy(Gap.RUN_AFTER, repeat);

        assertThat(runs("30 2 * * *", "Europe/Berlin", Instant.parse("2024-10-26T12:00:00Z"), policy, 2))
                .containsExactly(next, then);
    }

    @Test
    void second_waits_for_the_second_pass_from_within_the_first() {
        DstPolicy second = new DstPolicy(Gap.RUN_AFTER, Repeat.SECOND);

        assertThat(runs("10,50 2 * * *", "Europe/Berlin", Instant.parse("2024-10-27T00:30:00Z"), second, 3))
                .containsExactly(
                        Instant.parse("2024-10-27T01:10:00Z"),
                        Instant.parse("2024-10-27T01:50:00Z"),
                        Instant.parse("2024-10-28T01:10:00Z"));
    }

    @Test
    void a_day_that_a_zone_change_removes_is_left_out_under_every_policy() {
        for (Gap gap : Gap.values()) {
            DstPolicy policy = new DstPolicy(gap, Repeat.FIRST);

            assertThat(runs("0 9 * * *", "Pacific/Apia", Instant.parse("2011-12-29T00:00:00Z"), policy, 2))
                    .containsExactly(Instant.parse("2011-12-29T19:00:00Z"), Instant.parse("2011-12-30T19:00:00Z"));
            assertThat(runs("0 9 30 12 *", "Pacific/Apia", Instant.parse("2011-12-01T00:00:00Z"), policy, 1))
                    .containsExactly(Instant.parse("2012-12-29T19:00:00Z"));
        }
    }

    @Test
    void a_day_that_a_zone_change_repeats_counts_twice_under_every_policy() {
        for (Repeat repeat : Repeat.values()) {
            DstPolicy policy = new DstPolicy(Gap.RUN_AFTER, repeat);

            assertThat(runs("0 12 30 9 *", "Pacific/Kwajalein", Instant.parse("1969-09-01T00:00:00Z"), policy, 2))
                    .containsExactly(Instant.parse("1969-09-30T01:00:00Z"), Instant.parse("1969-10-01T00:00:00Z"));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "30 2 * * *, Europe/Berlin, 2024-10-27T01:20:00Z, 2024-10-28T01:30:00Z",
        "45 2 * * *, Antarctica/Troll, 2024-10-27T02:40:00Z, 2024-10-28T02:45:00Z",
        "55 3 * * *, Antarctica/Casey, 2018-03-10T19:50:00Z, 2018-03-11T19:55:00Z"
    })
    void no_run_of_the_first_pass_is_repeated_in_the_second(String cron, String zone, Instant after, Instant next) {
        assertThat(runs(cron, zone, after, DstPolicy.defaults(), 1)).containsExactly(next);
    }

    @Test
    void a_moved_run_is_not_returned_again_from_its_own_instant() {
        Instant moved = Instant.parse("2024-03-31T01:00:00Z");

        assertThat(runs("30 2 * * *", "Europe/Berlin", moved.minusNanos(1), DstPolicy.defaults(), 1))
                .containsExactly(moved);
        assertThat(runs("30 2 * * *", "Europe/Berlin", moved, DstPolicy.defaults(), 1))
                .containsExactly(Instant.parse("2024-04-01T00:30:00Z"));
    }

    private static List<Instant> runs(String cron, String zone, Instant after, DstPolicy policy, int count) {
        CronExpression expression = CronExpression.parse(cron);
        List<Instant> runs = new ArrayList<>();
        Instant at = after;
        for (int i = 0; i < count; i++) {
            at = expression.next(at, ZoneId.of(zone), policy).orElseThrow();
            runs.add(at);
        }
        return runs;
    }
}
