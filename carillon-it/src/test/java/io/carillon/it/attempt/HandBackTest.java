package io.carillon.it.attempt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.NodeConfig;
import io.carillon.internal.engine.Engine;
import io.carillon.internal.engine.EngineParts;
import io.carillon.internal.engine.attempt.BoundHandler;
import io.carillon.internal.engine.listener.Listeners;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.run.RetryRule;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.ClaimResult;
import io.carillon.it.fixture.FaultyStorage;
import io.carillon.run.Enqueue;
import io.carillon.run.Origin;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Retry;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs that a node claimed and did not finish are handed back, even after failures and locks. */
@CarillonTest
class HandBackTest {
    private static final Payload NOTHING = new Payload("{}".getBytes(StandardCharsets.UTF_8), "json");
    private static final RetryRule ONCE = new RetryRule(Retry.none(), List.of());

    private final TestDatabase database;
    private final CountDownLatch over = new CountDownLatch(1);
    private final AtomicInteger calls = new AtomicInteger();

    HandBackTest(TestDatabase database) {
        this.database = database;
    }

    @AfterEach
    void clear() {
        database.clear();
    }

    @Test
    void an_attempt_that_fails_without_an_outcome_is_handed_back_and_its_run_executed_again() throws Exception {
        DataSource source = database.pool(10);
        // Without a retry policy the engine cannot decide about a failure and fails itself.
        BoundHandler broken = bound(new RetryRule(null, List.of()), false, (attempt, context, connection) -> {
            if (calls.incrementAndGet() == 1) throw new IllegalStateException("first");
            return Outcome.succeeded(null);
        });
        try (Storage storage = new PostgresStorage(source, TickPlanner.defaults());
                Engine engine = engine(storage, source, broken)) {
            enqueue(storage, 1);
            engine.start();

            await().atMost(Duration.ofSeconds(30))
                    .until(() -> database.query("SELECT count(*) FROM carillon.run_history WHERE state = 'succeeded'")
                                    .number()
                            == 1);

            assertThat(calls).hasValue(2);
            assertThat(database.query("SELECT max(attempt) FROM carillon.run_history")
                            .number())
                    .isEqualTo(2);
            await().until(() -> engine.activeRuns().isEmpty());
            await().until(() -> engine.status().slots().busy() == 0);
        }
    }

    /** Another transaction locks all claimed runs just before the node hands runs back for the first time. */
    private final class LockedOnce implements FaultyStorage.CallInterceptor, AutoCloseable {
        private final Connection other;
        private final AtomicInteger handBacks = new AtomicInteger();

        LockedOnce() throws SQLException {
            other = database.dataSource().getConnection();
            other.setAutoCommit(false);
        }

        @Override
        public Object intercept(String point, Callable<Object> call) throws Throwable {
            if (!point.equals("runs.handBackRows")) return call.call();
            if (handBacks.get() == 0)
                try (Statement lock = other.createStatement()) {
                    lock.execute("SELECT 1 FROM carillon.run WHERE owner IS NOT NULL FOR UPDATE");
                }
            Object answer = call.call();
            handBacks.incrementAndGet();
            return answer;
        }

        void release() throws SQLException {
            other.rollback();
        }

        @Override
        public void close() throws SQLException {
            other.close();
        }
    }

    @Tag("slow")
    @Test
    void locked_runs_are_handed_back_when_the_lock_is_released() throws Exception {
        DataSource source = database.pool(10);
        // One run executes and another may wait for its transaction; all other runs of the claim are handed back.
        BoundHandler waiting = bound(ONCE, true, (attempt, context, connection) -> {
            calls.incrementAndGet();
            over.await();
            return Outcome.succeeded(null);
        });
        try (Storage storage = new PostgresStorage(source, TickPlanner.defaults());
                LockedOnce locked = new LockedOnce();
                Engine engine = engine(FaultyStorage.around(storage, locked), source, waiting)) {
            enqueue(storage, 10);
            engine.start();
            await().atMost(Duration.ofSeconds(30)).until(() -> locked.handBacks.get() >= 1);
            long rescues = loopTurns(engine, "rescue");
            await().atMost(Duration.ofSeconds(30)).until(() -> loopTurns(engine, "rescue") >= rescues + 2);
            assertThat(database.query("SELECT count(*) FROM carillon.run WHERE owner IS NOT NULL")
                            .number())
                    .isEqualTo(10);

            locked.release();

            await().atMost(Duration.ofSeconds(30))
                    .until(() -> database.query("SELECT count(*) FROM carillon.run WHERE owner IS NULL")
                                    .number()
                            == 8);
            over.countDown();
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> database.query("SELECT count(*) FROM carillon.run_history WHERE state = 'succeeded'")
                                    .number()
                            == 10);
            assertThat(calls).as("each run once").hasValue(10);
        } finally {
            over.countDown();
        }
    }

    @Test
    void only_runs_whose_handler_was_called_are_exempt_from_the_missed_policy() throws Exception {
        DataSource source = database.pool(10);
        CountDownLatch running = new CountDownLatch(1);
        BoundHandler endless = bound(ONCE, true, (attempt, context, connection) -> {
            running.countDown();
            over.await();
            return Outcome.succeeded(null);
        });
        try (Storage storage = new PostgresStorage(source, TickPlanner.defaults())) {
            enqueue(storage, 10);
            database.execute("UPDATE carillon.run SET start_by = carillon.clock() + interval '1 hour'");
            try (Engine engine = engine(storage, source, endless)) {
                engine.start();
                assertThat(running.await(30, TimeUnit.SECONDS)).isTrue();
            }
            assertThat(database.query("SELECT count(*) FROM carillon.run WHERE owner IS NULL")
                            .number())
                    .isEqualTo(10);
            assertThat(database.query("SELECT count(*) FROM carillon.run WHERE attempt > 0")
                            .number())
                    .as("claimed runs")
                    .isGreaterThan(1);
            assertThat(database.query("SELECT count(*) FROM carillon.run WHERE start_by = 'infinity'")
                            .number())
                    .as("started runs")
                    .isEqualTo(1);
        }
    }

    /** Delays the result of the first claim that returns attempts. */
    private static final class LateClaim implements FaultyStorage.CallInterceptor {
        private final CountDownLatch claimed = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);

        @Override
        public Object intercept(String point, Callable<Object> call) throws Throwable {
            Object result = call.call();
            if (result instanceof ClaimResult some && !some.attempts().isEmpty()) {
                claimed.countDown();
                assertThat(released.await(30, TimeUnit.SECONDS)).isTrue();
            }
            return result;
        }
    }

    @Test
    void runs_whose_claim_returns_while_the_node_stops_are_not_started() throws Exception {
        DataSource source = database.pool(10);
        BoundHandler handler = bound(ONCE, false, (attempt, context, connection) -> {
            calls.incrementAndGet();
            over.await();
            return Outcome.succeeded(null);
        });
        LateClaim late = new LateClaim();
        try (Storage storage = new PostgresStorage(source, TickPlanner.defaults())) {
            enqueue(storage, 1);
            Engine engine = engine(FaultyStorage.around(storage, late), source, handler);
            engine.start();
            assertThat(late.claimed.await(30, TimeUnit.SECONDS)).isTrue();
            CompletableFuture<Void> closed = CompletableFuture.runAsync(engine::close);
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> !engine.status().loops().get("rescue").alive());

            late.released.countDown();
            closed.get(30, TimeUnit.SECONDS);

            assertThat(calls).hasValue(0);
            assertThat(database.query("SELECT count(*) FROM carillon.run WHERE owner IS NULL")
                            .number())
                    .isEqualTo(1);
        } finally {
            over.countDown();
        }
    }

    private static long loopTurns(Engine engine, String loop) {
        return engine.status().loops().get(loop).rounds();
    }

    private static BoundHandler bound(RetryRule rule, boolean transactional, BoundHandler.Call call) {
        return new BoundHandler("work", "default", Duration.ofMinutes(1), rule, transactional, false, call);
    }

    private static Engine engine(Storage storage, DataSource source, BoundHandler handler) {
        return new Engine(
                new EngineParts(
                        storage,
                        Map.of("work", handler),
                        source::getConnection,
                        Listeners.none(),
                        TickPlanner.defaults(),
                        new EngineParts.NodeIdentity("hand-back", "here", 1, "test")),
                NodeConfig.defaults()
                        .concurrency(10)
                        .transactionalConcurrency(1)
                        .maxClaimSize(500)
                        .pollInterval(Duration.ofMillis(200))
                        .shutdownTimeout(Duration.ofMillis(100)));
    }

    private static void enqueue(Storage storage, int count) {
        storage.newRuns()
                .enqueue(Stream.generate(() -> new NewRun(
                                RunId.generate(),
                                new Lane("default", "default"),
                                Priority.NORMAL,
                                Origin.DIRECT,
                                Target.handler("work"),
                                NOTHING,
                                new Enqueue.Due.After(Duration.ZERO),
                                null,
                                null,
                                null))
                        .limit(count)
                        .toList());
    }
}
