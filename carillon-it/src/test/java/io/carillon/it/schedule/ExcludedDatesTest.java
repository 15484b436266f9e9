package io.carillon.it.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.fixture.LedgerCoverage;
import io.carillon.it.fixture.PlanningContract;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Excluded dates and the maximum number of runs, through planning, edits, pauses and outages. */
class ExcludedDatesTest extends PlanningContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    /** Every ten minutes except on 3 March, which begins in twelve hours. */
    private static final When HOLIDAY = When.every(Duration.ofMinutes(10)).except(LocalDate.parse("2026-03-03"));

    private static final ScheduleSpec SPEC = ScheduleSpec.of(HOLIDAY);
    private static final String COUNT_GAPS = "SELECT count(*) FROM carillon.ledger_gap WHERE reason = 'excluded date'";

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    private void covered(LedgerCoverage.Span... spans) {
        assertThat(LedgerCoverage.violations(ledger("report"), List.of(spans))).isEmpty();
    }

    private Instant cursor() {
        return schedule("report").planningState().cursor();
    }

    /** Advances the clock in steps; at each step a node plans and runs the due ticks. */
    private void advanceAndRun(Duration time, Duration step) {
        UUID node = node();
        for (Duration passed = Duration.ZERO; passed.compareTo(time) < 0; passed = passed.plus(step)) {
            advance(step);
            planAll();
            runDue(node);
        }
    }

    @Test
    void an_excluded_date_is_one_ledger_entry_however_often_it_is_planned() {
        store(SPEC);

        advanceAndRun(Duration.ofHours(37), Duration.ofMinutes(10));

        covered(new LedgerCoverage.Span(StoreFixture.NOON, cursor(), HOLIDAY));
        assertThat(FIXTURE.query(COUNT_GAPS).number()).isEqualTo(1);
        assertThat(lines("report")).contains("00:00:00-23:50:00 144 skipped excluded date");
        assertThat(lines("report"))
                .filteredOn(line -> line.endsWith("succeeded"))
                .hasSizeGreaterThan(75);
    }

    @Test
    void an_edit_on_an_excluded_date_loses_no_instant() {
        store(SPEC);
        advanceAndRun(Duration.ofHours(20), Duration.ofMinutes(10));
        Instant edited = fixture().clock().now();
        When open = When.every(Duration.ofMinutes(10));

        store(SPEC.when(open));
        advanceAndRun(Duration.ofHours(1), Duration.ofMinutes(10));

        covered(
                new LedgerCoverage.Span(StoreFixture.NOON, edited, HOLIDAY),
                new LedgerCoverage.Span(edited, cursor(), open));
        assertThat(lines("report")).contains("08:10:00 succeeded");
    }

    @Test
    void a_pause_on_an_excluded_date_has_its_own_ledger_entry() {
        store(SPEC);
        advanceAndRun(Duration.ofHours(20), Duration.ofMinutes(10));

        storage().schedules().pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
        advance(Duration.ofHours(30));
        storage().schedules().resume(PROJECT, "report");

        covered(new LedgerCoverage.Span(StoreFixture.NOON, cursor(), HOLIDAY));
        assertThat(lines("report"))
                .contains("00:00:00-08:00:00 49 skipped excluded date", "08:10:00-14:00:00 180 skipped paused");
    }

    @Test
    void an_outage_over_an_excluded_date_separates_missed_from_excluded_instants() {
        store(SPEC.missed(MissedPolicy.SKIP));
        advance(Duration.ofHours(40));

        planAll();

        covered(new LedgerCoverage.Span(StoreFixture.NOON, cursor(), HOLIDAY));
        assertThat(lines("report"))
                .contains(
                        "12:10:00-23:50:00 71 missed missed instants are skipped",
                        "00:00:00-23:50:00 144 skipped excluded date");
    }

    @Test
    void a_schedule_has_at_most_max_runs_runs() {
        When five = When.every(Duration.ofSeconds(30)).maxRuns(5);
        store(ScheduleSpec.of(five));

        advanceAndRun(Duration.ofMinutes(10), Duration.ofSeconds(20));

        assertThat(lines("report"))
                .containsExactly(
                        "12:00:30 succeeded",
                        "12:01:00 succeeded",
                        "12:01:30 succeeded",
                        "12:02:00 succeeded",
                        "12:02:30 succeeded");
        assertThat(schedule("report").planningState().nextAt()).isEqualTo(Instant.MAX);
        assertThat(schedule("report").runsLeft()).isZero();
    }

    @Test
    void ticks_deleted_by_an_edit_do_not_count_towards_max_runs() {
        When five = When.every(Duration.ofSeconds(30)).maxRuns(5);
        store(ScheduleSpec.of(five));
        advance(Duration.ofSeconds(30));
        for (String payload : List.of("a", "b", "c"))
            store(ScheduleSpec.of(five).payload(payload));

        advanceAndRun(Duration.ofMinutes(10), Duration.ofSeconds(20));

        assertThat(lines("report")).hasSize(5).allMatch(line -> line.endsWith("succeeded"));
    }

    @Test
    void pausing_a_finished_schedule_records_nothing() {
        store(ScheduleSpec.of(When.every(Duration.ofSeconds(30)).maxRuns(1)));
        advanceAndRun(Duration.ofMinutes(2), Duration.ofSeconds(20));

        storage().schedules().pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
        advance(Duration.ofHours(1));
        storage().schedules().resume(PROJECT, "report");

        assertThat(lines("report")).containsExactly("12:00:30 succeeded");
    }
}
