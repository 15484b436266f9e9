package io.carillon.it.frontdoor;

import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.micrometer.CarillonMeters;
import io.carillon.run.Attempt;
import io.carillon.run.HandlerType;
import io.carillon.run.Origin;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunListener;
import io.carillon.run.RunState;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import io.carillon.store.LedgerEntry;
import io.carillon.store.Wakeup;
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

/** How late a run is counts from its planned instant, and a schedule tells of its last run. */
class LatenessTest {
    record Report(String region) {}

    private static final HandlerType<Report> REPORT = HandlerType.of("report.make", Report.class);
    private static final Report EU = new Report("eu");
    private static final Duration THREE_HOURS = Duration.ofHours(3);
    private static final Duration BUDGET = Duration.ofSeconds(20);

    private final House house = new House(TestDatabase.migrated());
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final List<Duration> heard = new CopyOnWriteArrayList<>();
    private int failures;
    private Carillon carillon;

    @BeforeEach
    void start() {
        house.database().clock().at(Instant.parse("2026-05-04T12:30:00Z"));
        carillon = house.client(builder -> builder.wakeup(Wakeup.http())
                .listener(new CarillonMeters(registry))
                .listener(new RunListener() {
                    @Override
                    public void started(Attempt attempt, Duration late) {
                        heard.add(late);
                    }
                })
                .handle(
                        REPORT,
                        (report, run) -> {
                            if (failures-- > 0) throw new IllegalStateException("not yet");
                        },
                        options -> options.retry(Retry.exponential(THREE_HOURS))));
    }

    @AfterEach
    void close() {
        house.close();
        house.database().close();
    }

    private Run only(RunState state) {
        return carillon.runs()
                .list(RunFilter.all().state(state).handler("report.make"))
                .get(0);
    }

    @Test
    void a_run_once_after_an_outage_is_three_hours_late_wherever_it_is_shown() {
        carillon.schedules().upsert("r", When.cron("0 13 * * *", "UTC"), REPORT, EU);
        house.database().clock().at(Instant.parse("2026-05-04T16:00:00Z"));

        carillon.tick(BUDGET);

        Run run = only(RunState.SUCCEEDED);
        assertThat(run.origin()).isEqualTo(Origin.TICK);
        assertThat(run.lateness().orElseThrow()).isBetween(THREE_HOURS.minusSeconds(1), THREE_HOURS.plusMinutes(1));
        assertThat(carillon.schedules()
                        .ledger("r", Instant.parse("2026-05-04T12:00:00Z"), Instant.parse("2026-05-04T16:00:00Z")))
                .flatExtracting(LedgerEntry::lateness)
                .allSatisfy(late ->
                        assertThat(((java.util.Optional<?>) late).isPresent()).isTrue());
        eventually().until(() -> heard.size() == 1);
        assertThat(heard.get(0)).isBetween(THREE_HOURS.minusSeconds(1), THREE_HOURS.plusMinutes(1));
        assertThat(registry.get("carillon.tick.lateness").timer().max(TimeUnit.SECONDS))
                .isBetween(10_799.0, 10_860.0);
        // It waited for nobody once it was due.
        assertThat(registry.get("carillon.run.wait").timer().max(TimeUnit.SECONDS))
                .isLessThan(60);
    }

    @Test
    void a_retry_is_as_late_as_the_instant_is_old() {
        failures = 1;
        carillon.schedules().upsert("r", When.cron("0 13 * * *", "UTC"), REPORT, EU);
        house.database().clock().at(Instant.parse("2026-05-04T13:00:00Z"));
        carillon.tick(BUDGET);
        house.database().clock().at(Instant.parse("2026-05-04T16:00:01Z"));
        carillon.tick(BUDGET);

        assertThat(only(RunState.SUCCEEDED).lateness().orElseThrow())
                .isBetween(THREE_HOURS.minusSeconds(1), THREE_HOURS.plusMinutes(1));
        eventually().until(() -> heard.size() == 2);
        assertThat(heard.get(1)).isBetween(THREE_HOURS.minusSeconds(1), THREE_HOURS.plusMinutes(1));
    }

    @Test
    void a_backfill_is_late_for_nothing() {
        carillon.schedules().upsert("r", When.cron("0 13 * * *", "UTC"), REPORT, EU);
        carillon.schedules()
                .backfill("r", Instant.parse("2026-05-01T00:00:00Z"), Instant.parse("2026-05-02T00:00:00Z"));

        carillon.tick(BUDGET);

        assertThat(only(RunState.SUCCEEDED).origin()).isEqualTo(Origin.BACKFILL);
        assertThat(only(RunState.SUCCEEDED).lateness().orElseThrow()).isLessThan(Duration.ofMinutes(1));
    }

    @Test
    void a_schedule_tells_when_it_was_made_and_changed_and_of_its_last_run() {
        Instant made = Instant.parse("2026-05-04T12:30:00Z");
        carillon.schedules().upsert("r", When.cron("0 * * * *", "UTC"), REPORT, EU);
        Schedule fresh = carillon.schedules().get("r").orElseThrow();
        assertThat(fresh.facts().createdAt()).isBetween(made, made.plusSeconds(60));
        assertThat(fresh.facts().updatedAt()).isEqualTo(fresh.facts().createdAt());
        assertThat(fresh.facts().lastRun()).isNull();

        house.database().clock().at(Instant.parse("2026-05-04T13:00:00Z"));
        carillon.tick(BUDGET);
        carillon.schedules().upsert("r", When.cron("30 * * * *", "UTC"), REPORT, EU);
        house.database().clock().at(Instant.parse("2026-05-04T13:30:00Z"));
        failures = 1;
        carillon.tick(BUDGET);

        Schedule later = carillon.schedules().list().get(0);
        assertThat(later.facts().createdAt()).isEqualTo(fresh.facts().createdAt());
        assertThat(later.facts().updatedAt()).isAfter(fresh.facts().createdAt().plusSeconds(1_700));
        Schedule.LastRun last = later.facts().lastRun();
        assertThat(last).isNotNull();
        // That of half past waits for its next attempt; the one before has ended.
        assertThat(last.plannedAt()).isEqualTo(Instant.parse("2026-05-04T13:00:00Z"));
        assertThat(last.state()).isEqualTo("succeeded");
        assertThat(last.endedAt()).isNotNull();
    }

    @Test
    void tells_whether_it_executes_runs() {
        assertThat(carillon.isRunning()).isFalse();
        Carillon node = house.node(builder -> builder.handle(REPORT, (report, run) -> {}));
        assertThat(node.isRunning()).isTrue();
        node.close();
        assertThat(node.isRunning()).isFalse();
    }
}
