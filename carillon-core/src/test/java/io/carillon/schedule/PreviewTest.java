package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.carillon.schedule.DstPolicy.Gap;
import io.carillon.schedule.DstPolicy.Repeat;
import io.carillon.schedule.Preview.Entry;
import io.carillon.schedule.Preview.Mark;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PreviewTest {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
    private static final DstPolicy SKIP_AND_BOTH = new DstPolicy(Gap.SKIP, Repeat.BOTH);

    @Test
    void shows_local_time_offset_and_utc_of_each_run() {
        Preview preview = preview("30 2 * * *", DstPolicy.defaults(), "2024-06-01T12:00:00Z", 2);

        Entry first = preview.entries().get(0);
        assertThat(preview.description()).isEqualTo("At 02:30 every day");
        assertThat(preview.zone()).isEqualTo(BERLIN);
        assertThat(preview.entries()).hasSize(2);
        assertThat(first.local()).isEqualTo("2024-06-02T02:30:00");
        assertThat(first.planned()).isEqualTo(first.local());
        assertThat(first.offset()).isEqualTo(ZoneOffset.ofHours(2));
        assertThat(first.utc()).isEqualTo("2024-06-02T00:30:00Z");
        assertThat(first.mark()).isEqualTo(Mark.NONE);
        assertThat(first.willRun()).isTrue();
    }

    @Test
    void marks_a_run_moved_out_of_a_gap() {
        assertThat(lines("30 2 * * *", DstPolicy.defaults(), "2024-03-29T12:00:00Z", 3))
                .containsExactly(
                        "03-30T02:30 +01:00 NONE",
                        "03-31T02:30 -> 03-31T03:00 +02:00 MOVED",
                        "04-01T02:30 +02:00 NONE");
    }

    @Test
    void shows_a_dropped_run_in_its_place_without_counting_it() {
        assertThat(lines("30 2 * * *", SKIP_AND_BOTH, "2024-03-29T12:00:00Z", 2))
                .containsExactly(
                        "03-30T02:30 +01:00 NONE",
                        "03-31T02:30 -> 03-31T03:00 +02:00 DROPPED",
                        "04-01T02:30 +02:00 NONE");
        assertThat(preview("30 2 * * *", SKIP_AND_BOTH, "2024-03-30T12:00:00Z", 1)
                        .entries()
                        .get(0)
                        .willRun())
                .isFalse();
    }

    @Test
    void marks_both_passes_of_a_doubled_run_and_nothing_where_it_runs_once() {
        assertThat(lines("30 2 * * *", SKIP_AND_BOTH, "2024-10-26T12:00:00Z", 3))
                .containsExactly("10-27T02:30 +02:00 DOUBLED", "10-27T02:30 +01:00 DOUBLED", "10-28T02:30 +01:00 NONE");
        assertThat(lines("30 2 * * *", DstPolicy.defaults(), "2024-10-26T12:00:00Z", 2))
                .containsExactly("10-27T02:30 +02:00 NONE", "10-28T02:30 +01:00 NONE");
    }

    @Test
    void also_marks_expressions_that_follow_the_clock() {
        assertThat(lines("*/30 * * * *", DstPolicy.defaults(), "2024-03-31T00:15:00Z", 2))
                .containsExactly(
                        "03-31T01:30 +01:00 NONE",
                        "03-31T02:00 -> 03-31T03:00 +02:00 DROPPED",
                        "03-31T03:00 +02:00 NONE");
        assertThat(lines("0 * * * *", DstPolicy.defaults(), "2024-10-26T23:30:00Z", 3))
                .containsExactly("10-27T02:00 +02:00 DOUBLED", "10-27T02:00 +01:00 DOUBLED", "10-27T03:00 +01:00 NONE");
    }

    @Test
    void a_run_moved_onto_another_one_is_marked() {
        assertThat(lines("0,30 2,3 * * *", DstPolicy.defaults(), "2024-03-30T12:00:00Z", 2))
                .containsExactly("03-31T02:00 -> 03-31T03:00 +02:00 MOVED", "03-31T03:30 +02:00 NONE");
    }

    @Test
    void an_expression_that_never_fires_has_no_entries() {
        Preview preview = preview("0 0 30 2 *", DstPolicy.defaults(), "2024-01-01T00:00:00Z", 5);

        assertThat(preview.entries()).isEmpty();
        assertThat(preview.description()).contains("never");
    }

    @Test
    void dropped_entries_are_limited_to_the_requested_count() {
        // Until 2017 the clocks of Sao Paulo skipped this midnight, nine years in a row.
        CronExpression thirdSunday = CronExpression.parse("0 0 15-21 10 */7");
        Instant after = Instant.parse("2009-01-01T00:00:00Z");
        Preview preview = Preview.of(thirdSunday, ZoneId.of("America/Sao_Paulo"), SKIP_AND_BOTH, after, 2);

        assertThat(preview.entries())
                .extracting(Entry::mark)
                .containsExactly(Mark.DROPPED, Mark.DROPPED, Mark.NONE, Mark.NONE);
        assertThat(preview.entries())
                .extracting(entry -> entry.planned().getYear())
                .containsExactly(2009, 2010, 2018, 2019);
    }

    @Test
    void centuries_between_two_runs_are_skipped_quickly() {
        Interval aeons = Interval.every(
                400_000_000, ChronoUnit.YEARS, ZonedDateTime.of(LocalDateTime.parse("2024-03-30T02:30"), BERLIN));
        Preview preview = Preview.of(aeons, SKIP_AND_BOTH, Instant.EPOCH, 3);

        assertThat(preview.entries())
                .extracting(Entry::mark)
                .containsOnly(Mark.NONE)
                .hasSize(3);
    }

    @Test
    void intervals_are_marked_by_the_calendar_but_not_by_elapsed_time() {
        ZonedDateTime start = ZonedDateTime.of(LocalDateTime.parse("2024-03-30T02:30"), BERLIN);
        Instant after = Instant.parse("2024-03-30T12:00:00Z");

        Preview daily = Preview.of(Interval.every(1, ChronoUnit.DAYS, start), DstPolicy.defaults(), after, 2);
        Preview hourly = Preview.of(Interval.every(1, ChronoUnit.HOURS, start), SKIP_AND_BOTH, after, 24);
        Preview skipping = Preview.of(Interval.every(1, ChronoUnit.DAYS, start), SKIP_AND_BOTH, after, 1);

        assertThat(daily.description()).isEqualTo("Every day from 2024-03-30T02:30+01:00[Europe/Berlin]");
        assertThat(lines(daily)).containsExactly("03-31T02:30 -> 03-31T03:00 +02:00 MOVED", "04-01T02:30 +02:00 NONE");
        assertThat(lines(skipping))
                .containsExactly("03-31T02:30 -> 03-31T03:00 +02:00 DROPPED", "04-01T02:30 +02:00 NONE");
        assertThat(hourly.entries()).hasSize(24).allMatch(entry -> entry.mark() == Mark.NONE);
    }

    @Test
    void a_count_out_of_bounds_is_refused() {
        for (int count : new int[] {0, -1, Preview.MAX_COUNT + 1}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> preview("* * * * *", DstPolicy.defaults(), "2024-01-01T00:00:00Z", count))
                    .withMessage("count must be between 1 and 1000 (was " + count + ").");
        }
    }

    @ParameterizedTest
    @MethodSource("io.carillon.schedule.TestZones#zonesWithClockChanges")
    void the_runs_shown_are_the_runs_planned(String zone) {
        Random random = new Random(TestZones.seed("preview " + zone));
        RandomCron crons = new RandomCron(random);
        for (int i = 0; i < 100; i++) {
            CronExpression cron = CronExpression.parse(crons.next());
            DstPolicy policy = crons.policy();
            Instant at = Instant.ofEpochSecond(1_000_000_000L + random.nextInt(1_000_000_000));
            Preview preview = Preview.of(cron, ZoneId.of(zone), policy, at, 20);
            for (Entry entry : preview.entries()) {
                if (entry.willRun()) {
                    Instant planned = cron.next(at, ZoneId.of(zone), policy).orElseThrow();
                    assertThat(entry.utc())
                            .as("%s %s after %s", cron, policy, at)
                            .isEqualTo(planned);
                    at = planned;
                }
                assertThat(entry.planned().equals(entry.local()))
                        .isEqualTo(entry.mark() == Mark.NONE || entry.mark() == Mark.DOUBLED);
            }
        }
    }

    private static Preview preview(String cron, DstPolicy policy, String after, int count) {
        return Preview.of(CronExpression.parse(cron), BERLIN, policy, Instant.parse(after), count);
    }

    private static List<String> lines(String cron, DstPolicy policy, String after, int count) {
        return lines(preview(cron, policy, after, count));
    }

    /** Formats each entry: month, day and time, and where it was moved. */
    private static List<String> lines(Preview preview) {
        return preview.entries().stream()
                .map(entry -> {
                    String planned = entry.planned().toString().substring(5);
                    String local = entry.local().toString().substring(5);
                    String arrow = planned.equals(local) ? local : planned + " -> " + local;
                    return arrow + " " + entry.offset() + " " + entry.mark();
                })
                .toList();
    }
}
