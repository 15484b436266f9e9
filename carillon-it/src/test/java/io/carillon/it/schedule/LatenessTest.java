package io.carillon.it.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.Wakeup;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.micrometer.CarillonMeters;
import io.carillon.run.HandlerType;
import io.carillon.run.Origin;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import io.carillon.spi.RunEvent;
import io.carillon.testkit.TestDatabase;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The lateness of a run counts from its planned instant, and a schedule shows its last run. */
class LatenessTest {
    record Report(String region) {}

    private static final HandlerType<Report> REPORT = HandlerType.of("report.make", Report.class);
    private static final Report EU = new Report("eu");
    private static final Duration THREE_HOURS = Duration.ofHours(3);
    private static final Duration BUDGET = Duration.ofSeconds(20);

    private final ApiFixture fixture = new ApiFixture(TestDatabase.migrated());
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final List<RunEvent.AttemptStarted> starts = new CopyOnWriteArrayList<>();
    private int failures;
    private Carillon carillon;

    @BeforeEach
    void start() {
        fixture.database().clock().stopAt(Instant.parse("2026-05-04T12:30:00Z"));
        carillon = fixture.client(builder -> builder.wakeup(Wakeup.http())
                .listener(new CarillonMeters(registry))
                .listener(event -> {
                    if (event instanceof RunEvent.AttemptStarted started) starts.add(started);
                })
                .handle(
                        REPORT,
                        (report, run) -> {
                            if (failures-- > 0) throw new IllegalStateException("not yet");
                        },
                        HandlerOptions.defaults().retry(Retry.exponential(THREE_HOURS))));
    }

    @AfterEach
    void close() {
        fixture.close();
        fixture.database().close();
    }

    private Run only(RunState state) {
        return carillon.runs()
                .list(RunFilter.all().state(state).handler("report.make"))
                .get(0);
    }

    @Test
    void a_catch_up_run_after_an_outage_is_three_hours_late_in_run_ledger_listener_and_meter() {
        carillon.schedules().upsert("r", When.cron("0 13 * * *", "UTC"), REPORT, EU);
        fixture.database().clock().stopAt(Instant.parse("2026-05-04T16:00:00Z"));

        carillon.runDue(BUDGET);

        Run run = only(RunState.SUCCEEDED);
        assertThat(run.origin()).isEqualTo(Origin.TICK);
        assertThat(run.lateness().orElseThrow()).isBetween(THREE_HOURS.minusSeconds(1), THREE_HOURS.plusMinutes(1));
        assertThat(carillon.schedules()
                        .ledger("r", Instant.parse("2026-05-04T12:00:00Z"), Instant.parse("2026-05-04T16:00:00Z")))
                .flatExtracting(LedgerEntry::lateness)
                .allSatisfy(late ->
                        assertThat(((java.util.Optional<?>) late).isPresent()).isTrue());
        assertThat(starts).hasSize(1);
        assertThat(starts.get(0).lateness()).isBetween(THREE_HOURS.minusSeconds(1), THREE_HOURS.plusMinutes(1));
        assertThat(registry.get("carillon.tick.lateness").timer().max(TimeUnit.SECONDS))
                .isBetween(10_799.0, 10_860.0);
        // The run started immediately once it was due.
        assertThat(starts.get(0).waited()).isLessThan(Duration.ofMinutes(1));
        assertThat(registry.get("carillon.run.wait").timer().max(TimeUnit.SECONDS))
                .isLessThan(60);
    }

    @Test
    void a_retry_makes_no_run_later_than_its_first_start() {
        failures = 1;
        carillon.schedules().upsert("r", When.cron("0 13 * * *", "UTC"), REPORT, EU);
        fixture.database().clock().stopAt(Instant.parse("2026-05-04T13:00:00Z"));
        carillon.runDue(BUDGET);
        fixture.database().clock().stopAt(Instant.parse("2026-05-04T16:00:01Z"));
        carillon.runDue(BUDGET);

        Run run = only(RunState.SUCCEEDED);
        assertThat(run.instants().startedAt()).isAfter(Instant.parse("2026-05-04T16:00:00Z"));
        assertThat(run.lateness().orElseThrow()).isLessThan(Duration.ofMinutes(1));
        LedgerEntry entry = carillon.schedules()
                .ledger("r", Instant.parse("2026-05-04T12:00:00Z"), Instant.parse("2026-05-04T16:00:00Z"))
                .get(0);
        assertThat(entry.lateness()).isEqualTo(run.lateness());
        assertThat(entry.endedAt()).isEqualTo(run.instants().endedAt());
        assertThat(starts).hasSize(2);
        assertThat(starts.get(1).lateness()).isBetween(THREE_HOURS.minusSeconds(1), THREE_HOURS.plusMinutes(1));
        assertThat(starts.get(1).waited())
                .isBetween(Duration.ZERO, starts.get(1).lateness());
        assertThat(starts).extracting(started -> started.run().attempt()).containsExactly(1, 2);
    }

    @Test
    void a_run_without_a_schedule_is_as_late_as_it_has_waited() {
        carillon.enqueue(REPORT, EU);
        fixture.database().clock().stopAt(Instant.parse("2026-05-04T12:35:00Z"));

        carillon.runDue(BUDGET);

        assertThat(starts).hasSize(1);
        assertThat(starts.get(0).lateness()).isBetween(Duration.ofSeconds(270), Duration.ofMinutes(6));
        assertThat(starts.get(0).waited()).isEqualTo(starts.get(0).lateness());
        assertThat(starts.get(0).run().origin()).isEqualTo(Origin.DIRECT);
        assertThat(starts.get(0).run().plannedAt()).isNull();
    }

    @Test
    void a_backfilled_run_is_not_late() {
        carillon.schedules().upsert("r", When.cron("0 13 * * *", "UTC"), REPORT, EU);
        carillon.schedules()
                .backfill("r", Instant.parse("2026-05-01T00:00:00Z"), Instant.parse("2026-05-02T00:00:00Z"));

        carillon.runDue(BUDGET);

        assertThat(only(RunState.SUCCEEDED).origin()).isEqualTo(Origin.BACKFILL);
        assertThat(only(RunState.SUCCEEDED).lateness().orElseThrow()).isLessThan(Duration.ofMinutes(1));
    }

    @Test
    void a_schedule_shows_its_creation_its_last_change_and_its_last_run() {
        Instant made = Instant.parse("2026-05-04T12:30:00Z");
        carillon.schedules().upsert("r", When.cron("0 * * * *", "UTC"), REPORT, EU);
        Schedule fresh = carillon.schedules().get("r").orElseThrow();
        assertThat(fresh.metadata().createdAt()).isBetween(made, made.plusSeconds(60));
        assertThat(fresh.metadata().updatedAt()).isEqualTo(fresh.metadata().createdAt());
        assertThat(fresh.metadata().lastRun()).isNull();

        fixture.database().clock().stopAt(Instant.parse("2026-05-04T13:00:00Z"));
        carillon.runDue(BUDGET);
        carillon.schedules().upsert("r", When.cron("30 * * * *", "UTC"), REPORT, EU);
        fixture.database().clock().stopAt(Instant.parse("2026-05-04T13:30:00Z"));
        failures = 1;
        carillon.runDue(BUDGET);

        Schedule later = carillon.schedules().list().get(0);
        assertThat(later.metadata().createdAt()).isEqualTo(fresh.metadata().createdAt());
        assertThat(later.metadata().updatedAt())
                .isAfter(fresh.metadata().createdAt().plusSeconds(1_700));
        Schedule.LastRun last = later.metadata().lastRun();
        assertThat(last).isNotNull();
        // The run of 13:30 waits for its next attempt; the run of 13:00 has ended.
        assertThat(last.plannedAt()).isEqualTo(Instant.parse("2026-05-04T13:00:00Z"));
        assertThat(last.state()).isEqualTo("succeeded");
        assertThat(last.endedAt()).isNotNull();
    }
}
