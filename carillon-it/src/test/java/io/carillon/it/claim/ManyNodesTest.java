package io.carillon.it.claim;

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
import io.carillon.it.fixture.CallCounter;
import io.carillon.run.Enqueue;
import io.carillon.run.Origin;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Retry;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Twelve nodes on one database: a notification of one run makes few nodes claim, and one of a backlog
 * reaches all nodes.
 */
class ManyNodesTest {
    private static final int NODES = 12;
    private static final Lane LANE = new Lane("default", "default");

    private static final List<Engine> engines = new ArrayList<>();
    private static final List<Storage> storages = new ArrayList<>();
    private static final List<CallCounter> counters = new ArrayList<>();
    private static final Map<Integer, AtomicInteger> started = new ConcurrentHashMap<>();
    private static final Set<Integer> busy = ConcurrentHashMap.newKeySet();
    private static final CountDownLatch release = new CountDownLatch(1);
    private static volatile boolean hold;
    private static TestDatabase database;
    private static DataSource pool;

    @BeforeAll
    static void start() {
        database = TestDatabase.migrated();
        pool = database.pool(NODES * 3 + 10);
        for (int i = 0; i < NODES; i++) {
            Storage storage = new PostgresStorage(pool, TickPlanner.defaults());
            CallCounter calls = new CallCounter();
            Engine engine = new Engine(
                    new EngineParts(
                            calls.around(storage),
                            Map.of("quick", handler(i)),
                            pool::getConnection,
                            Listeners.none(),
                            TickPlanner.defaults(),
                            new EngineParts.NodeIdentity("node-" + i, "here", i, "test")),
                    NodeConfig.defaults()
                            .concurrency(20)
                            .transactionalConcurrency(1)
                            .maxClaimSize(50)
                            // No poll finds the backlog during the test; only nodes that are notified claim in time.
                            .pollInterval(Duration.ofMinutes(5))
                            .shutdownTimeout(Duration.ofSeconds(10))
                            .heartbeat(Duration.ofMillis(500), Duration.ofSeconds(10)));
            engine.start();
            engines.add(engine);
            storages.add(storage);
            counters.add(calls);
        }
        // After two more heartbeats of each node, all nodes know each other.
        List<Long> heartbeatsBefore = counters.stream()
                .map(calls -> calls.countOf("nodes.recordHeartbeat"))
                .toList();
        await().atMost(Duration.ofSeconds(30))
                .until(() -> Stream.iterate(0, i -> i + 1)
                        .limit(NODES)
                        .allMatch(i -> counters.get(i).countOf("nodes.recordHeartbeat") > heartbeatsBefore.get(i) + 2));
    }

    @AfterAll
    static void stop() {
        release.countDown();
        engines.forEach(Engine::close);
        storages.forEach(Storage::close);
        database.close();
    }

    private static BoundHandler handler(int node) {
        return new BoundHandler(
                "quick",
                Duration.ofMinutes(1),
                new RetryRule(Retry.exponential(Duration.ofSeconds(1)), List.of()),
                false,
                (attempt, context, connection) -> {
                    started.computeIfAbsent(node, n -> new AtomicInteger()).incrementAndGet();
                    busy.add(node);
                    // While all handlers wait, only nodes that have not claimed yet have free slots.
                    if (hold) release.await(60, TimeUnit.SECONDS);
                    return Outcome.succeeded(null);
                });
    }

    private static int totalStarted() {
        return started.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    private static long claims() {
        return counters.stream().mapToLong(calls -> calls.countOf("runs.claim")).sum();
    }

    private static List<NewRun> runs(int count) {
        return Stream.generate(() -> new NewRun(
                        RunId.generate(),
                        LANE,
                        Priority.NORMAL,
                        Origin.DIRECT,
                        Target.handler("quick"),
                        new Payload("{}".getBytes(StandardCharsets.UTF_8), "json"),
                        new Enqueue.Due.After(Duration.ZERO),
                        null,
                        null,
                        null))
                .limit(count)
                .toList();
    }

    @Tag("slow")
    @Test
    void one_run_makes_a_few_nodes_claim_and_a_backlog_makes_all_nodes_claim() {
        for (int round = 1; round <= 5; round++) {
            int before = totalStarted();
            long asked = claims();
            storages.get(0).newRuns().enqueue(runs(1), true);
            await().atMost(Duration.ofSeconds(20)).until(() -> totalStarted() == before + 1);
            // Every other node that claims has done so by its next heartbeat.
            List<Long> heartbeatsBefore = counters.stream()
                    .map(calls -> calls.countOf("nodes.recordHeartbeat"))
                    .toList();
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> Stream.iterate(0, i -> i + 1)
                            .limit(NODES)
                            .allMatch(i -> counters.get(i).countOf("nodes.recordHeartbeat") > heartbeatsBefore.get(i)));
            assertThat(claims() - asked).as("claims for one run").isBetween(1L, 5L);
        }

        busy.clear();
        hold = true;
        storages.get(0).newRuns().enqueue(runs(1_000), true);
        await().atMost(Duration.ofSeconds(30)).until(() -> busy.size() == NODES);
        release.countDown();
    }
}
