package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.schedule.Missed;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Excluded dates and the number of runs, through planning, edits, pauses and outages. */
class CalendarTest extends PlanningContract {
    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    /** Every ten minutes, and not on the third of March, which begins in twelve hours. */
    private static final When HOLIDAY = When.every(Duration.ofMinutes(10)).except(LocalDate.parse("2026-03-03"));

    private static final Promise PROMISE = Promise.of(HOLIDAY);
    private static final String STRETCHES = "SELECT count(*) FROM carillon.ledger_gap WHERE reason = 'excluded date'";

    @Override
    StoreBench bench() {
        return BENCH;
    }

    private void covered(Coverage.Span... spans) {
        assertThat(Coverage.faults(ledger("report"), List.of(spans))).isEmpty();
    }

    private Instant cursor() {
        return schedule("report").progress().cursor();
    }

    /** Time passes in steps, and a node plans and runs. */
    private void live(Duration time, Duration step) {
        UUID node = node();
        for (Duration passed = Duration.ZERO; passed.compareTo(time) < 0; passed = passed.plus(step)) {
            advance(step);
            planAll();
            runDue(node);
        }
    }

    @Test
    void an_excluded_date_is_one_line_of_the_ledger_however_often_somebody_plans() {
        store(PROMISE);

        live(Duration.ofHours(37), Duration.ofMinutes(10));

        covered(new Coverage.Span(StoreBench.NOON, cursor(), HOLIDAY));
        assertThat(BENCH.rows().number(STRETCHES)).isEqualTo(1);
        assertThat(lines("report")).contains("00:00:00-23:50:00 144 skipped excluded date");
        assertThat(lines("report"))
                .filteredOn(line -> line.endsWith("succeeded"))
                .hasSizeGreaterThan(75);
    }

    @Test
    void an_edit_on_an_excluded_date_leaves_no_hole() {
        store(PROMISE);
        live(Duration.ofHours(20), Duration.ofMinutes(10));
        Instant edited = bench().clock().now();
        When open = When.every(Duration.ofMinutes(10));

        store(PROMISE.when(open));
        live(Duration.ofHours(1), Duration.ofMinutes(10));

        covered(new Coverage.Span(StoreBench.NOON, edited, HOLIDAY), new Coverage.Span(edited, cursor(), open));
        assertThat(lines("report")).contains("08:10:00 succeeded");
    }

    @Test
    void a_pause_on_an_excluded_date_is_told_from_what_was_excluded_before() {
        store(PROMISE);
        live(Duration.ofHours(20), Duration.ofMinutes(10));

        storage().schedules().pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
        advance(Duration.ofHours(30));
        storage().schedules().resume(PROJECT, "report");

        covered(new Coverage.Span(StoreBench.NOON, cursor(), HOLIDAY));
        assertThat(lines("report"))
                .contains("00:00:00-08:00:00 49 skipped excluded date", "08:10:00-14:00:00 180 skipped paused");
    }

    @Test
    void an_outage_over_an_excluded_date_tells_what_was_missed_from_what_was_excluded() {
        store(PROMISE.missed(Missed.SKIP));
        advance(Duration.ofHours(40));

        planAll();

        covered(new Coverage.Span(StoreBench.NOON, cursor(), HOLIDAY));
        assertThat(lines("report"))
                .contains(
                        "12:10:00-23:50:00 71 missed missed instants are skipped",
                        "00:00:00-23:50:00 144 skipped excluded date");
    }

    @Test
    void there_are_no_more_runs_than_asked_for() {
        When five = When.every(Duration.ofSeconds(30)).maxRuns(5);
        store(Promise.of(five));

        live(Duration.ofMinutes(10), Duration.ofSeconds(20));

        assertThat(lines("report"))
                .containsExactly(
                        "12:00:30 succeeded",
                        "12:01:00 succeeded",
                        "12:01:30 succeeded",
                        "12:02:00 succeeded",
                        "12:02:30 succeeded");
        assertThat(schedule("report").progress().nextAt()).isEqualTo(Instant.MAX);
        assertThat(schedule("report").runsLeft()).isZero();
    }

    @Test
    void ticks_that_an_edit_takes_back_are_not_counted() {
        When five = When.every(Duration.ofSeconds(30)).maxRuns(5);
        store(Promise.of(five));
        advance(Duration.ofSeconds(30));
        for (String payload : List.of("a", "b", "c")) store(Promise.of(five).payload(payload));

        live(Duration.ofMinutes(10), Duration.ofSeconds(20));

        assertThat(lines("report")).hasSize(5).allMatch(line -> line.endsWith("succeeded"));
    }

    @Test
    void pausing_what_is_over_records_nothing() {
        store(Promise.of(When.every(Duration.ofSeconds(30)).maxRuns(1)));
        live(Duration.ofMinutes(2), Duration.ofSeconds(20));

        storage().schedules().pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
        advance(Duration.ofHours(1));
        storage().schedules().resume(PROJECT, "report");

        assertThat(lines("report")).containsExactly("12:00:30 succeeded");
    }
}
