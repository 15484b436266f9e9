package io.carillon.it.node;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.HandlerOptions;
import io.carillon.NodeConfig;
import io.carillon.NodeInfo;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.History;
import io.carillon.testkit.HistoryChecker;
import io.carillon.testkit.HistoryRecorder;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Terminated database sessions, an exhausted connection pool, and handlers that run for a long time. */
@CarillonTest
class SessionLossTest {
    record Job(int number) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private final ApiFixture fixture;

    SessionLossTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Tag("slow")
    @Test
    void all_runs_complete_although_all_sessions_are_killed_repeatedly() {
        killSessionsDuring(Duration.ofSeconds(5), Duration.ofSeconds(1), 200);
    }

    @Test
    @Tag("slow")
    void all_runs_complete_although_all_sessions_are_killed_for_two_minutes() {
        killSessionsDuring(Duration.ofMinutes(2), Duration.ofSeconds(3), 6_000);
    }

    private void killSessionsDuring(Duration length, Duration every, int runs) {
        HistoryRecorder recorder = HistoryRecorder.on(fixture.database());
        Map<Integer, AtomicInteger> calls = new ConcurrentHashMap<>();
        for (int i = 0; i < 2; i++)
            fixture.node(builder -> builder.config(ApiFixture.quickHeartbeats())
                    .concurrency(8)
                    .handle(
                            JOB,
                            (job, run) -> {
                                calls.computeIfAbsent(job.number(), n -> new AtomicInteger())
                                        .incrementAndGet();
                                new CountDownLatch(1).await(10, TimeUnit.MILLISECONDS);
                            },
                            HandlerOptions.defaults().retry(Retry.exponential(Duration.ofMillis(10)))));
        Carillon client = fixture.client(builder -> builder);
        ScheduledExecutorService killer = Executors.newSingleThreadScheduledExecutor();
        List<RunId> acknowledged = new ArrayList<>();
        try {
            Future<?> killing = killer.scheduleAtFixedRate(
                    () -> fixture.database().terminateSessions(), 0, every.toMillis(), TimeUnit.MILLISECONDS);
            long end = System.nanoTime() + length.toNanos();
            for (int i = 0; System.nanoTime() < end; i++) {
                if (acknowledged.size() < runs) enqueue(client, i, acknowledged);
                pause(length.toNanos() / runs);
            }
            assertThat(killing.isDone()).as("the session killer stopped early").isFalse();
        } finally {
            stopKilling(killer);
        }

        assertThat(acknowledged).hasSizeGreaterThan(runs / 10);
        eventually()
                .atMost(Duration.ofSeconds(60))
                .until(() -> fixture.query("SELECT count(*) FROM carillon.run").number() == 0);
        assertThat(acknowledged)
                .allSatisfy(
                        id -> assertThat(client.runs().get(id).map(Run::state)).contains(RunState.SUCCEEDED));
        assertThat(fixture.query("SELECT count(*) - count(DISTINCT id) FROM carillon.run_history")
                        .number())
                .isZero();
        History history = History.of(recorder.events());
        // A node that sent no heartbeat for long enough counts as lost, even if its process continued.
        for (NodeInfo node : client.nodes())
            if (node.deadAt() != null) history = history.nodeLost(node.name(), node.deadAt());
        assertThat(HistoryChecker.check(history)).isEmpty();
    }

    private static void stopKilling(ScheduledExecutorService killer) {
        killer.shutdownNow();
        eventually().until(killer::isTerminated);
    }

    private static void enqueue(Carillon client, int number, List<RunId> acknowledged) {
        try {
            acknowledged.add(client.enqueue(JOB, new Job(number)).run());
        } catch (CarillonException sessionKilled) {
            // Not acknowledged: the run may or may not be stored.
        }
    }

    private static void pause(long nanos) {
        try {
            TimeUnit.NANOSECONDS.timedJoin(Thread.currentThread(), nanos);
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    @Test
    void a_killed_listen_session_is_reopened_and_polling_finds_the_work_meanwhile() {
        Carillon node = fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));
        Carillon client = fixture.client(builder -> builder);
        eventually().until(() -> node.health().healthy());

        assertThat(fixture.query("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                                + " WHERE datname = current_database() AND query = 'LISTEN carillon'")
                        .number())
                .isEqualTo(1);

        RunId meanwhile = client.enqueue(JOB, new Job(1)).run();
        assertThat(awaitState(node, meanwhile, RunState.SUCCEEDED).instants().startedAt())
                .isBefore(node.runs()
                        .get(meanwhile)
                        .orElseThrow()
                        .instants()
                        .dueAt()
                        .plusSeconds(5));
        eventually()
                .atMost(Duration.ofSeconds(10))
                .until(() -> fixture.query("SELECT count(*) FROM pg_stat_activity"
                                        + " WHERE datname = current_database() AND query = 'LISTEN carillon'")
                                .number()
                        == 1);
        eventually().until(() -> node.health().healthy());
    }

    @Tag("slow")
    @Test
    void a_pool_exhausted_by_handlers_does_not_stop_the_heartbeat() throws Exception {
        try (HikariDataSource pool = hikari(8)) {
            CountDownLatch drained = new CountDownLatch(6);
            // Its deadAfter is shorter than that of the watcher, so this node declares the third node dead.
            NodeConfig shortDeadAfter =
                    NodeConfig.defaults().heartbeat(Duration.ofMillis(300), Duration.ofMillis(1_500));
            Carillon node = fixture.add(Carillon.on(pool)
                    .config(shortDeadAfter)
                    .concurrency(6)
                    .handle(JOB, (job, run) -> {
                        try (Connection mine = pool.getConnection();
                                Statement statement = mine.createStatement()) {
                            drained.countDown();
                            // Longer than the time after which a silent node is declared dead.
                            statement.execute("SELECT pg_sleep(4)");
                        }
                    })
                    .start());
            Carillon watcher = fixture.node(builder -> builder.config(ApiFixture.quickHeartbeats()));
            for (int i = 0; i < 6; i++) watcher.enqueue(JOB, new Job(i));
            assertThat(drained.await(30, TimeUnit.SECONDS)).isTrue();
            // A third node sends no heartbeat: a live node must declare it dead and rescue its runs.
            fixture.database()
                    .execute("INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, slots, wakeup)"
                            + " VALUES (gen_random_uuid(), 'ghost', 'elsewhere', 1, 'dev', 1, '{}', 1, 'notify')");

            eventually()
                    .until(() -> fixture.query("SELECT count(*) FROM carillon.run_history")
                                    .number()
                            == 6);
            assertThat(fixture.query("SELECT sum(crashes) + sum(failures) FROM carillon.run_history")
                            .number())
                    .isZero();
            eventually()
                    .untilAsserted(() -> assertThat(fixture.query(
                                            "SELECT name FROM carillon.node WHERE dead_reason LIKE 'no heartbeat%'")
                                    .rows())
                            .containsExactly(List.of("ghost")));
            node.close();
        }
    }

    @Tag("slow")
    @Test
    void handlers_that_use_every_core_do_not_stop_the_heartbeat() {
        int many = 8 * Runtime.getRuntime().availableProcessors();
        NodeConfig shortDeadAfter = NodeConfig.defaults().heartbeat(Duration.ofMillis(300), Duration.ofSeconds(2));
        AtomicInteger calls = new AtomicInteger();
        AtomicLong end = new AtomicLong();
        Carillon node = fixture.node(builder -> builder.config(shortDeadAfter)
                .concurrency(many)
                .handle(JOB, (job, run) -> {
                    calls.incrementAndGet();
                    // All handlers end at the same instant: virtual threads are not time-sliced, so some start late.
                    end.compareAndSet(
                            0, System.nanoTime() + Duration.ofSeconds(5).toNanos());
                    while (System.nanoTime() < end.get()) Thread.onSpinWait();
                }));
        Carillon watcher = fixture.node(builder -> builder.config(shortDeadAfter));

        watcher.enqueueAll(JOB, java.util.Collections.nCopies(many, new Job(1)));

        eventually()
                .until(() -> fixture.query("SELECT count(*) FROM carillon.run_history")
                                .number()
                        == many);
        assertThat(node.nodes())
                .extracting(NodeInfo::deathReason)
                .filteredOn(reason -> reason != null && !reason.equals("stopped"))
                .isEmpty();
        assertThat(calls).hasValue(many);
        assertThat(fixture.query("SELECT sum(crashes) FROM carillon.run_history")
                        .number())
                .isZero();
    }

    @Tag("slow")
    @Test
    void a_handler_that_takes_several_lease_periods_runs_once() {
        runsOnce(Duration.ofSeconds(4));
    }

    @Test
    @Tag("slow")
    void a_handler_that_takes_twenty_lease_periods_runs_once() {
        runsOnce(Duration.ofSeconds(32));
    }

    private void runsOnce(Duration takes) {
        AtomicInteger calls = new AtomicInteger();
        NodeConfig shortLease = NodeConfig.defaults().heartbeat(Duration.ofMillis(100), Duration.ofMillis(1_500));
        Carillon node = fixture.node(builder -> builder.config(shortLease).handle(JOB, (job, run) -> {
            calls.incrementAndGet();
            new CountDownLatch(1).await(takes.toMillis(), TimeUnit.MILLISECONDS);
        }));
        Carillon watcher = fixture.node(builder -> builder.config(shortLease));
        RunId id = watcher.enqueue(JOB, new Job(1)).run();

        Run run = eventually()
                .atMost(takes.plus(ApiFixture.TIMEOUT))
                .until(() -> node.runs().get(id).orElseThrow(), found -> found.state() == RunState.SUCCEEDED);

        assertThat(calls).hasValue(1);
        assertThat(run.crashes()).isZero();
        assertThat(fixture.query("SELECT count(*) FROM carillon.attempt").number())
                .isZero();
    }

    @Test
    void a_failed_notification_does_not_fail_the_call() {
        Carillon client = fixture.add(Carillon.on(FailingStatements.on(
                        fixture.database().pool(4), sql -> sql.contains("pg_notify('carillon', m)")))
                .build());

        RunId id = client.enqueue(JOB, new Job(1)).run();

        assertThat(client.runs().get(id)).isPresent();
        assertThat(client.schedules().upsert("s", When.cron("0 0 * * *", "UTC"), JOB, new Job(1)))
                .isNotNull();
        assertThat(client.queues().resume("job")).isFalse();
    }

    private HikariDataSource hikari(int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(fixture.database().jdbcUrl());
        config.setUsername(fixture.database().user());
        config.setPassword(fixture.database().password());
        config.setMaximumPoolSize(size);
        config.setConnectionTimeout(10_000);
        return new HikariDataSource(config);
    }
}
