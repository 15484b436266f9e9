package io.carillon.it.frontdoor;

import static io.carillon.it.frontdoor.House.awaitState;
import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.engine.EngineConfig;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.When;
import io.carillon.store.NodeView;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.History;
import io.carillon.testkit.HistoryChecker;
import io.carillon.testkit.HistoryRecorder;
import io.carillon.testkit.TestDatabase;
import io.carillon.value.CarillonException;
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

/** A database that throws everybody out, a pool that is drained, and handlers that take their time. */
@CarillonTest
class StormTest {
    record Job(int number) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private final House house;

    StormTest(TestDatabase database) {
        house = new House(database);
    }

    @AfterEach
    void close() {
        house.close();
    }

    @Test
    void all_runs_complete_though_every_session_is_killed_again_and_again() {
        storm(Duration.ofSeconds(5), Duration.ofSeconds(1), 200);
    }

    @Test
    @Tag("slow")
    void all_runs_complete_though_every_session_is_killed_for_two_minutes() {
        storm(Duration.ofMinutes(2), Duration.ofSeconds(3), 6_000);
    }

    private void storm(Duration length, Duration every, int runs) {
        HistoryRecorder recorder = HistoryRecorder.on(house.database());
        Map<Integer, AtomicInteger> calls = new ConcurrentHashMap<>();
        for (int i = 0; i < 2; i++)
            house.node(builder -> builder.config(House.quickBeats())
                    .concurrency(8)
                    .handle(
                            JOB,
                            (job, run) -> {
                                calls.computeIfAbsent(job.number(), n -> new AtomicInteger())
                                        .incrementAndGet();
                                new CountDownLatch(1).await(10, TimeUnit.MILLISECONDS);
                            },
                            options -> options.retry(Retry.exponential(Duration.ofMillis(10)))));
        Carillon client = house.client(builder -> builder);
        ScheduledExecutorService storm = Executors.newSingleThreadScheduledExecutor();
        List<RunId> acknowledged = new ArrayList<>();
        try {
            Future<?> lightning = storm.scheduleAtFixedRate(
                    () -> house.database().terminateSessions(), 0, every.toMillis(), TimeUnit.MILLISECONDS);
            long end = System.nanoTime() + length.toNanos();
            for (int i = 0; System.nanoTime() < end; i++) {
                if (acknowledged.size() < runs) enqueue(client, i, acknowledged);
                pause(length.toNanos() / runs);
            }
            assertThat(lightning.isDone()).as("the storm ended before its time").isFalse();
        } finally {
            calm(storm);
        }

        assertThat(acknowledged).hasSizeGreaterThan(runs / 10);
        eventually().atMost(Duration.ofSeconds(60)).until(() -> house.number("SELECT count(*) FROM carillon.run") == 0);
        assertThat(acknowledged)
                .allSatisfy(
                        id -> assertThat(client.runs().get(id).map(Run::state)).contains(RunState.SUCCEEDED));
        assertThat(house.number("SELECT count(*) - count(DISTINCT id) FROM carillon.run_history"))
                .isZero();
        History history = History.of(recorder.events());
        // A node that could not beat for long enough counts as lost, whatever became of it.
        for (NodeView node : client.nodes())
            if (node.deadAt() != null) history = history.lost(node.info().name(), node.deadAt());
        assertThat(HistoryChecker.judge(history)).isEmpty();
    }

    private static void calm(ScheduledExecutorService storm) {
        storm.shutdownNow();
        eventually().until(storm::isTerminated);
    }

    private static void enqueue(Carillon client, int number, List<RunId> acknowledged) {
        try {
            acknowledged.add(client.enqueue(JOB, new Job(number)).run());
        } catch (CarillonException thrownOut) {
            // Not acknowledged: it may or may not be stored.
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
    void a_killed_listener_listens_again_and_meanwhile_polling_finds_the_work() {
        Carillon node = house.node(builder -> builder.handle(JOB, (job, run) -> {}));
        Carillon client = house.client(builder -> builder);
        eventually().until(() -> node.health().healthy());

        assertThat(house.number("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                        + " WHERE datname = current_database() AND query = 'LISTEN carillon'"))
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
                .until(() -> house.number("SELECT count(*) FROM pg_stat_activity"
                                + " WHERE datname = current_database() AND query = 'LISTEN carillon'")
                        == 1);
        eventually().until(() -> node.health().healthy());
    }

    @Test
    void a_pool_drained_by_handlers_does_not_stop_the_heart() throws Exception {
        try (HikariDataSource pool = hikari(8)) {
            CountDownLatch drained = new CountDownLatch(6);
            // Less patient than its watcher, so that it is the one who buries.
            EngineConfig impatient = House.quickBeats()
                    .with(new EngineConfig.Heartbeat(Duration.ofMillis(300), Duration.ofMillis(1_500)));
            Carillon node = house.add(Carillon.on(pool)
                    .config(impatient)
                    .concurrency(6)
                    .handle(JOB, (job, run) -> {
                        try (Connection mine = pool.getConnection();
                                Statement statement = mine.createStatement()) {
                            drained.countDown();
                            // Longer than a node may be silent before it is declared dead.
                            statement.execute("SELECT pg_sleep(4)");
                        }
                    })
                    .start());
            Carillon watcher = house.node(builder -> builder.config(House.quickBeats()));
            for (int i = 0; i < 6; i++) watcher.enqueue(JOB, new Job(i));
            assertThat(drained.await(30, TimeUnit.SECONDS)).isTrue();
            // A third node falls silent: whoever watches it has to bury it and to sweep up after it.
            house.database()
                    .execute("INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, slots, wakeup)"
                            + " VALUES (gen_random_uuid(), 'ghost', 'elsewhere', 1, 'dev', 1, '{}', 1, 'notify')");

            eventually().until(() -> house.number("SELECT count(*) FROM carillon.run_history") == 6);
            assertThat(house.number("SELECT sum(crashes) + sum(failures) FROM carillon.run_history"))
                    .isZero();
            eventually()
                    .untilAsserted(() -> assertThat(
                                    house.rows("SELECT name FROM carillon.node WHERE dead_why LIKE 'no beat%'"))
                            .containsExactly(List.of("ghost")));
            node.close();
        }
    }

    @Tag("slow")
    @Test
    void handlers_that_burn_every_core_do_not_stop_the_heart() {
        int many = 8 * Runtime.getRuntime().availableProcessors();
        EngineConfig impatient =
                EngineConfig.defaults().with(new EngineConfig.Heartbeat(Duration.ofMillis(300), Duration.ofSeconds(2)));
        AtomicInteger calls = new AtomicInteger();
        AtomicLong end = new AtomicLong();
        Carillon node = house.node(builder -> builder.config(impatient)
                .concurrency(many)
                .handle(JOB, (job, run) -> {
                    calls.incrementAndGet();
                    // For five seconds in all: virtual threads that burn take turns instead of sharing.
                    end.compareAndSet(
                            0, System.nanoTime() + Duration.ofSeconds(5).toNanos());
                    while (System.nanoTime() < end.get()) Thread.onSpinWait();
                }));
        Carillon watcher = house.node(builder -> builder.config(impatient));

        watcher.enqueueAll(JOB, java.util.Collections.nCopies(many, new Job(1)));

        eventually().until(() -> house.number("SELECT count(*) FROM carillon.run_history") == many);
        // Nodes of the tests before have stopped in order.
        assertThat(node.nodes())
                .extracting(NodeView::deadWhy)
                .filteredOn(why -> why != null && !why.equals("stopped"))
                .isEmpty();
        assertThat(calls).hasValue(many);
        assertThat(house.number("SELECT sum(crashes) FROM carillon.run_history"))
                .isZero();
    }

    @Test
    void a_handler_that_takes_some_lease_periods_runs_once() {
        runsOnce(Duration.ofSeconds(4));
    }

    @Test
    @Tag("slow")
    void a_handler_that_takes_twenty_lease_periods_runs_once() {
        runsOnce(Duration.ofSeconds(32));
    }

    private void runsOnce(Duration takes) {
        AtomicInteger calls = new AtomicInteger();
        EngineConfig shortLease = EngineConfig.defaults()
                .with(new EngineConfig.Heartbeat(Duration.ofMillis(100), Duration.ofMillis(1_500)));
        Carillon node = house.node(builder -> builder.config(shortLease).handle(JOB, (job, run) -> {
            calls.incrementAndGet();
            new CountDownLatch(1).await(takes.toMillis(), TimeUnit.MILLISECONDS);
        }));
        Carillon watcher = house.node(builder -> builder.config(shortLease));
        RunId id = watcher.enqueue(JOB, new Job(1)).run();

        Run run = eventually()
                .atMost(takes.plus(House.LONG_ENOUGH))
                .until(() -> node.runs().get(id).orElseThrow(), found -> found.state() == RunState.SUCCEEDED);

        assertThat(calls).hasValue(1);
        assertThat(run.crashes()).isZero();
        assertThat(house.number("SELECT count(*) FROM carillon.attempt")).isZero();
    }

    @Test
    void a_hint_that_could_not_be_sent_fails_nothing() {
        Carillon client = house.add(
                Carillon.on(Tripping.on(house.database().pool(4), sql -> sql.contains("pg_notify('carillon', m)")))
                        .build());

        RunId id = client.enqueue(JOB, new Job(1)).run();

        assertThat(client.runs().get(id)).isPresent();
        assertThat(client.schedules().upsert("s", When.cron("0 0 * * *", "UTC"), JOB, new Job(1)))
                .isNotNull();
        assertThat(client.queues().resume("job")).isFalse();
    }

    private HikariDataSource hikari(int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(house.database().jdbcUrl());
        config.setUsername(house.database().user());
        config.setPassword(house.database().password());
        config.setMaximumPoolSize(size);
        config.setConnectionTimeout(10_000);
        return new HikariDataSource(config);
    }
}
