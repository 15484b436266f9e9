package io.carillon.it.planning;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.schedule.TickPlan;
import io.carillon.it.fixture.LedgerCoverage;
import io.carillon.it.fixture.PlanningContract;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.schedule.When;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A plan is written while another statement changes one of its rows. The write is stopped at the row of schedule
 * {@code a}, after it took its snapshot and before it reaches the rows of schedule {@code b}.
 */
class PlanRaceTest extends PlanningContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    private static final When TEN_SECONDS = When.every(Duration.ofSeconds(10));
    private static final long STOP_LOCK = 4711;

    private Connection holder;

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @BeforeEach
    void blockFirstSchedule() throws SQLException {
        FIXTURE.database().execute("""
                CREATE OR REPLACE FUNCTION stop_at_a() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  IF OLD.name = 'a' THEN PERFORM pg_advisory_xact_lock(%d); END IF;
                  RETURN NEW;
                END $$;
                CREATE OR REPLACE TRIGGER stop_at_a BEFORE UPDATE ON carillon.schedule FOR EACH ROW
                  EXECUTE FUNCTION stop_at_a()
                """.formatted(STOP_LOCK));
        holder = fixture().open();
    }

    @AfterEach
    void unblock() throws SQLException {
        holder.close();
        FIXTURE.database().execute("DROP TRIGGER stop_at_a ON carillon.schedule");
    }

    @Test
    void a_schedule_whose_row_is_updated_meanwhile_gets_its_whole_plan_or_nothing() throws Exception {
        addManySchedules();
        store(ScheduleSpec.of(TEN_SECONDS).named("a"));
        store(ScheduleSpec.of(TEN_SECONDS).named("b"));
        advance(Duration.ofMinutes(20));
        List<TickPlan> plans = List.of(upToDate("a"), upToDate("b"));
        assertThat(plans.get(1).gaps()).isNotEmpty();

        List<TickPlan> written = writeWhile(plans, () -> renew("b"));

        assertMovedOrUntouched(written, plans.get(1));
        planAll();
        covered("b");
        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.schedule WHERE headers = 'renewed'")
                        .number())
                .isOne();
    }

    @Test
    void a_schedule_with_late_ticks_whose_row_is_updated_meanwhile_gets_its_whole_plan_or_nothing() throws Exception {
        store(ScheduleSpec.of(TEN_SECONDS).named("a"));
        store(ScheduleSpec.of(TEN_SECONDS).named("b"));
        advance(Duration.ofMinutes(20));
        List<TickPlan> plans = plans(due());
        assertThat(plans).hasSize(2).noneMatch(plan -> plan.lateDecisions().isEmpty());

        List<TickPlan> written = writeWhile(plans, () -> renew("b"));

        assertMovedOrUntouched(written, plans.get(1));
        planAll();
        covered("b");
    }

    @Test
    void a_schedule_whose_interval_is_adapted_meanwhile_gets_its_whole_plan_or_nothing() throws Exception {
        When adaptive = When.adaptive(Duration.ofSeconds(10), Duration.ofSeconds(60));
        addManySchedules();
        store(ScheduleSpec.of(TEN_SECONDS).named("a"));
        store(ScheduleSpec.of(adaptive).named("b"));
        advance(Duration.ofMinutes(20));
        List<TickPlan> plans = List.of(upToDate("a"), upToDate("b"));

        List<TickPlan> written = writeWhile(
                plans, () -> assertThat(storage().plans().adaptIntervals()).isOne());

        assertMovedOrUntouched(written, plans.get(1));
        assertThat(FIXTURE.query("SELECT count(*) FROM (SELECT 1 FROM carillon.run GROUP BY schedule_id, planned_at"
                                + " HAVING count(*) > 1) twice")
                        .number())
                .isZero();
    }

    @Test
    void a_locked_late_tick_prevents_its_whole_plan_from_being_written() throws Exception {
        store(ScheduleSpec.of(TEN_SECONDS).named("b"));
        advance(Duration.ofMinutes(20));
        List<TickPlan> plans = plans(due());
        String before = fixture().dump();
        holder.setAutoCommit(false);
        try (Statement statement = holder.createStatement()) {
            statement.execute("SELECT 1 FROM carillon.run ORDER BY planned_at LIMIT 1 FOR UPDATE");
            assertThat(storage().plans().write(plans)).isEmpty();
            holder.rollback();
        }

        assertThat(fixture().dump()).isEqualTo(before);
        planAll();
        covered("b");
    }

    /** With this many schedules the statement finds rows by their key, one after the other. */
    private static void addManySchedules() {
        FIXTURE.database().execute("""
                INSERT INTO carillon.schedule
                  (project, id, name, kind, expression, zone, gap, repeat, queue, priority, target, target_name,
                    payload, codec, missed,
                   missed_cap, missed_spread, grace, catch_up, overlap, cursor, next_at, tzdata)
                SELECT 'default', gen_random_uuid(), 's' || i, 'cron', '0 * * * *', 'UTC', 'run-after', 'first', 'mail',
                       1, 'handler',
                       'mail.send', '{}', 'json', 'run-once', 100, '0', '5 min', '24 h', 'allow', carillon.clock(),
                       'infinity', 'z'
                  FROM generate_series(1, 2000) i;
                ANALYZE carillon.schedule
                """);
    }

    private TickPlan upToDate(String name) {
        return PLANNER.plan(schedule(name), List.of(), fixture().clock().now());
    }

    private void renew(String name) {
        storage().schedules().upsert(ScheduleSpec.of(TEN_SECONDS).named(name).definition(), id -> "renewed");
    }

    private List<TickPlan> writeWhile(List<TickPlan> plans, Runnable meanwhile) throws Exception {
        try (Statement statement = holder.createStatement()) {
            statement.execute("SELECT pg_advisory_lock(" + STOP_LOCK + ")");
            CompletableFuture<List<TickPlan>> write = CompletableFuture.supplyAsync(
                    () -> fixture().secondStorage().plans().write(plans));
            waitFor(() -> waiting() == 1);
            CompletableFuture<Void> change = CompletableFuture.runAsync(meanwhile);
            waitFor(() -> change.isDone() || waiting() == 2);
            statement.execute("SELECT pg_advisory_unlock(" + STOP_LOCK + ")");
            List<TickPlan> written = write.get(30, TimeUnit.SECONDS);
            change.get(30, TimeUnit.SECONDS);
            return written;
        }
    }

    private static long waiting() {
        return FIXTURE.query("SELECT count(*) FROM pg_stat_activity"
                        + " WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0")
                .number();
    }

    private static void waitFor(BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.getAsBoolean()) assertThat(System.nanoTime()).isLessThan(end);
    }

    /** The cursor shows whether the plan was written; the answer, the ticks and the ledger must agree with it. */
    private void assertMovedOrUntouched(List<TickPlan> written, TickPlan plan) {
        Instant cursor = schedule(plan.schedule().name()).planningState().cursor();
        boolean moved = cursor.equals(plan.cursor());
        assertThat(written.contains(plan)).as("answer of the write").isEqualTo(moved);
        assertThat(FIXTURE.query(
                                "SELECT count(*) FROM carillon.ledger_gap WHERE schedule_id = ?",
                                plan.schedule().id().value())
                        .number())
                .isEqualTo(moved ? plan.gaps().size() : 0);
        for (TickPlan.Tick tick : plan.ticks())
            assertThat(FIXTURE.query("SELECT count(*) FROM carillon.run WHERE id = ?", tick.id())
                            .number())
                    .isEqualTo(moved ? 1 : 0);
        for (TickPlan.LateDecision late : plan.lateDecisions())
            assertThat(FIXTURE.query(
                                    "SELECT count(*) FROM carillon.run_history WHERE id = ? AND state = 'missed'",
                                    late.run())
                            .number())
                    .isEqualTo(moved && !late.runsLate() ? 1 : 0);
    }

    private void covered(String name) {
        assertThat(LedgerCoverage.violations(
                        ledger(name),
                        List.of(new LedgerCoverage.Span(
                                StoreFixture.NOON,
                                schedule(name).planningState().cursor(),
                                TEN_SECONDS))))
                .isEmpty();
    }
}
