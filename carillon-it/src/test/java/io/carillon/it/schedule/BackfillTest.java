package io.carillon.it.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.run.Origin;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.schedule.DroppedHistoryPolicy;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Backfills of past instants, and explanations of runs that did not start. */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class BackfillTest {
    record Report(String region) {}

    private static final HandlerType<Report> REPORT = HandlerType.of("report.make", Report.class);
    private static final When HOURLY = When.cron("0 * * * *", "UTC");
    private static final Report EU = new Report("eu");

    private final Queue<String> made = new ConcurrentLinkedQueue<>();
    private final TestClock clock;
    private final ApiFixture fixture;
    private Carillon carillon;

    BackfillTest(TestDatabase database, TestClock clock) {
        this.fixture = new ApiFixture(database);
        this.clock = clock;
    }

    @BeforeEach
    void client() {
        carillon = fixture.client(builder -> builder.handle(
                REPORT,
                (report, run) ->
                        made.add(run.plannedAt().orElseThrow().toString().substring(5, 16))));
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void creates_one_run_of_the_lowest_priority_for_each_past_instant_without_a_ledger_entry() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);

        assertThat(carillon.schedules().previewBackfill("r", at("06:00"), at("11:59")))
                .isEqualTo(6);
        assertThat(carillon.runs().list(RunFilter.all())).isEmpty();
        assertThat(carillon.schedules().backfill("r", at("06:00"), at("11:59"))).isEqualTo(6);

        assertThat(carillon.runs().list(RunFilter.all())).hasSize(6).allSatisfy(run -> {
            assertThat(run.origin()).isEqualTo(Origin.BACKFILL);
            assertThat(run.priority()).isEqualTo(Priority.BULK);
        });
        runDue();
        assertThat(made).hasSize(6).contains("05-04T06:00", "05-04T11:00");
        assertThat(carillon.schedules().ledger("r", at("00:00"), at("12:00")))
                .hasSize(6)
                .extracting(LedgerEntry::state)
                .containsOnly("succeeded");
    }

    @Test
    void repeating_a_backfill_creates_no_further_runs() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        carillon.schedules().backfill("r", at("10:00"), at("11:00"));

        assertThat(carillon.schedules().backfill("r", at("09:00"), at("11:00"))).isEqualTo(1);
        runDue();
        assertThat(carillon.schedules().backfill("r", at("09:00"), at("11:00"))).isZero();
        assertThat(carillon.schedules().previewBackfill("r", at("09:00"), at("11:00")))
                .isZero();
        assertThat(made).hasSize(3);
    }

    @Test
    void instants_of_months_ago_keep_their_ledger_entry() {
        carillon.schedules().upsert("r", When.cron("0 3 1 * *", "UTC"), REPORT, EU);
        Instant winter = Instant.parse("2026-01-01T00:00:00Z");

        assertThat(carillon.schedules().backfill("r", winter, at("12:00"))).isEqualTo(5);
        runDue();

        assertThat(made).contains("01-01T03:00", "05-01T03:00");
        assertThat(carillon.schedules().ledger("r", winter, at("12:00"))).hasSize(5);
        assertThat(carillon.schedules().backfill("r", winter, at("12:00"))).isZero();
    }

    @Test
    void skips_instants_with_a_ledger_entry_excluded_dates_and_future_instants() {
        carillon.schedules()
                .upsert(
                        "r",
                        HOURLY.except(LocalDate.parse("2026-05-03")),
                        REPORT,
                        EU,
                        ScheduleOptions.defaults().missed(MissedPolicy.SKIP));
        clock.stopAt(at("15:30"));
        runDue();
        assertThat(made).isEmpty();

        assertThat(carillon.schedules().backfill("r", at("12:30"), at("23:00"))).isZero();
        assertThat(carillon.schedules().backfill("r", at("12:00").minus(Duration.ofDays(2)), at("23:00")))
                .isEqualTo(12 + 13);
    }

    @Test
    void a_range_that_is_too_long_is_refused_and_changes_nothing() {
        carillon.schedules().upsert("r", When.every(Duration.ofSeconds(1)), REPORT, EU);

        assertThat(code(() -> carillon.schedules().backfill("r", at("00:00"), at("12:00"))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> carillon.schedules().previewBackfill("r", Instant.MIN, Instant.MAX)))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> carillon.schedules().backfill("unknown", at("00:00"), at("12:00"))))
                .isEqualTo(ErrorCode.UNKNOWN_SCHEDULE);
        assertThat(carillon.schedules().backfill("r", at("12:00"), at("00:00"))).isZero();
        assertThat(carillon.runs().list(RunFilter.all()))
                .extracting(Run::origin)
                .doesNotContain(Origin.BACKFILL);
    }

    @Test
    void deleting_the_schedule_cancels_runs_that_have_not_started() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        carillon.schedules().backfill("r", at("06:00"), at("11:00"));

        carillon.schedules().delete("r");

        assertThat(runDue()).isZero();
        assertThat(carillon.runs().list(RunFilter.all()))
                .hasSize(6)
                .extracting(Run::state)
                .containsOnly(RunState.CANCELLED);
    }

    @Test
    void the_explanation_of_a_late_tick_names_the_missed_policy() {
        carillon.schedules()
                .upsert("r", HOURLY, REPORT, EU, ScheduleOptions.defaults().missed(MissedPolicy.SKIP));
        clock.stopAt(at("12:59"));
        runDue();
        Run waiting = carillon.runs().list(RunFilter.all()).get(0);
        clock.stopAt(at("13:06"));

        assertThat(carillon.runs().explain(waiting.id()).orElseThrow().summary())
                .contains("no node started it before 2026-05-04T13:05:00Z", "missed policy");
        runDue();
        assertThat(carillon.runs().explain(waiting.id()).orElseThrow().summary())
                .contains("never started", "missed", "missed instants are skipped");
        assertThat(made).isEmpty();
    }

    private int runDue() {
        return carillon.runDue(Duration.ofSeconds(20)).processed();
    }

    private static ErrorCode code(ThrowingCallable call) {
        CarillonException refusal = catchThrowableOfType(CarillonException.class, call);
        return refusal == null ? null : refusal.code();
    }

    private static Instant at(String time) {
        return Instant.parse("2026-05-04T" + time + ":00Z");
    }

    @Test
    void rejects_instants_whose_history_was_dropped_unless_the_policy_runs_them() {
        When daily = When.cron("0 6 * * *", "UTC");
        carillon.schedules().upsert("r", daily, REPORT, EU);
        for (int day = 0; day < 20; day++) {
            clock.advance(Duration.ofDays(1));
            runDue();
        }
        assertThat(made).hasSize(20);
        Instant from = at("00:00").minus(Duration.ofDays(2));
        Instant dropped = at("00:00").plus(Duration.ofDays(5));
        try (PostgresStorage storage = new PostgresStorage(fixture.database().dataSource(), TickPlanner.defaults())) {
            assertThat(storage.maintenance().dropHistory(Duration.ofDays(14))).isPositive();
        }

        CarillonException refused = catchThrowableOfType(
                CarillonException.class, () -> carillon.schedules().backfill("r", from, clock.now()));
        assertThat(refused.code()).isEqualTo(ErrorCode.HISTORY_DROPPED);
        assertThat(refused)
                .hasMessageContaining("from 2026-05-05T06:00:00Z to 2026-05-0")
                .hasMessageContaining("schedule 'r'");
        assertThat(code(() -> carillon.schedules().previewBackfill("r", from, dropped)))
                .isEqualTo(ErrorCode.HISTORY_DROPPED);

        assertThat(carillon.schedules().backfill("r", from, at("12:00")))
                .as("before the schedule was created")
                .isEqualTo(3);
        assertThat(carillon.schedules().backfill("r", clock.now().minus(Duration.ofDays(13)), clock.now()))
                .isZero();
        assertThat(carillon.schedules().previewBackfill("r", from, dropped, DroppedHistoryPolicy.RUN))
                .isEqualTo(4);
    }
}
