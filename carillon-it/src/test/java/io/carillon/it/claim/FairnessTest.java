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
import io.carillon.it.fixture.FaultyStorage;
import io.carillon.run.Enqueue;
import io.carillon.run.Origin;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.run.Target;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Fairness between lanes: a large backlog in one lane must not delay the others. */
@CarillonTest
class FairnessTest {
    private static final int LANES = 1_000;
    private static final int SERVED = 6_000;

    private final Set<String> started = ConcurrentHashMap.newKeySet();
    private final CountDownLatch never = new CountDownLatch(1);

    @BeforeEach
    void clear(TestDatabase database) {
        database.clear();
    }

    @Tag("slow")
    @Test
    void a_lane_without_a_notification_is_found_beside_a_large_backlog(TestDatabase database) throws Exception {
        try (Storage storage = new PostgresStorage(database.pool(10), TickPlanner.defaults())) {
            storage.newRuns()
                    .enqueue(IntStream.range(0, 20_000)
                            .mapToObj(i -> run("large"))
                            .toList());
            BoundHandler handler = new BoundHandler(
                    "work",
                    Duration.ofMinutes(1),
                    new RetryRule(Retry.none(), List.of()),
                    false,
                    (attempt, context, connection) -> {
                        started.add(attempt.lane().queue());
                        never.await(4, TimeUnit.MILLISECONDS);
                        return Outcome.succeeded(null);
                    });
            EngineParts parts = new EngineParts(
                    storage,
                    Map.of("work", handler),
                    () -> {
                        throw new UnsupportedOperationException();
                    },
                    Listeners.none(),
                    TickPlanner.defaults(),
                    new EngineParts.NodeIdentity("fair", "here", 1, "test"));
            NodeConfig config = NodeConfig.defaults()
                    .concurrency(2)
                    .transactionalConcurrency(0)
                    .maxClaimSize(100)
                    .shutdownTimeout(Duration.ZERO);
            try (Engine engine = new Engine(parts, config)) {
                engine.start();
                await().until(() -> started.contains("large"));

                // Stored without a notification, like a run whose notification was lost.
                storage.newRuns().enqueue(List.of(run("small")));

                await().atMost(Duration.ofSeconds(12)).until(() -> started.contains("small"));
                assertThat(storage.lanes().list("default"))
                        .filteredOn(lane -> lane.lane().queue().equals("large"))
                        .allMatch(lane -> lane.counts().waiting() > 1_000);
            }
        }
    }

    @Tag("slow")
    @Test
    void a_new_run_of_a_lane_does_not_wait_for_a_large_claim_of_other_lanes(TestDatabase database) throws Exception {
        AtomicInteger served = new AtomicInteger();
        AtomicBoolean stall = new AtomicBoolean();
        CountDownLatch stalled = new CountDownLatch(1);
        CountDownLatch letGo = new CountDownLatch(1);
        try (Storage storage = new PostgresStorage(database.pool(10), TickPlanner.defaults())) {
            storage.newRuns()
                    .enqueue(IntStream.range(0, 60_000)
                            .mapToObj(i -> run("large"))
                            .toList());
            Storage slow = FaultyStorage.around(storage, (point, call) -> {
                if (stall.get() && point.equals("runs.claim") && stalled.getCount() > 0) {
                    stalled.countDown();
                    letGo.await();
                }
                return call.call();
            });
            EngineParts parts = parts(slow, (attempt, context, connection) -> {
                started.add(attempt.lane().queue());
                served.incrementAndGet();
                return Outcome.succeeded(null);
            });
            try (Engine engine = new Engine(parts, slots(20))) {
                engine.start();
                await().atMost(Duration.ofSeconds(30))
                        .pollInterval(Duration.ofMillis(10))
                        .until(() -> served.get() > 5_000);
                stall.set(true);
                assertThat(stalled.await(10, TimeUnit.SECONDS)).isTrue();

                NewRun small = run("small");
                storage.newRuns().enqueue(List.of(small));
                engine.announce(small);

                try {
                    await().until(() -> started.contains("small"));
                } finally {
                    letGo.countDown();
                }
            }
        }
    }

    @Tag("slow")
    @Test
    void a_thousand_lanes_with_uneven_backlogs_are_served_equally(TestDatabase database) {
        List<NewRun> backlog = new ArrayList<>();
        for (int lane = 0; lane < LANES; lane++) {
            int runs = lane % 100 == 0 ? 1_000 : 10;
            for (int i = 0; i < runs; i++) backlog.add(run("lane-" + lane));
        }

        assertThat(jain(database, backlog, LANES)).isGreaterThan(0.95);
    }

    @Tag("slow")
    @Test
    void thousands_of_projects_are_served_equally(TestDatabase database) {
        List<NewRun> backlog = new ArrayList<>();
        for (int project = 0; project < 3 * LANES; project++) {
            int runs = project % 1_000 == 0 ? 1_000 : 4;
            for (int i = 0; i < runs; i++) backlog.add(run("default", "project-" + project));
        }

        assertThat(jain(database, backlog, 3 * LANES)).isGreaterThan(0.95);
    }

    /** Returns Jain's fairness index of the number of runs that each lane got among the first {@link #SERVED} runs. */
    private static double jain(TestDatabase database, List<NewRun> backlog, int lanes) {
        Map<Lane, AtomicInteger> served = new ConcurrentHashMap<>();
        AtomicInteger all = new AtomicInteger();
        try (Storage storage = new PostgresStorage(database.pool(10), TickPlanner.defaults())) {
            storage.newRuns().enqueue(backlog);
            EngineParts parts = parts(storage, (attempt, context, connection) -> {
                if (all.incrementAndGet() <= SERVED)
                    served.computeIfAbsent(attempt.lane(), lane -> new AtomicInteger())
                            .incrementAndGet();
                return Outcome.succeeded(null);
            });
            try (Engine engine = new Engine(parts, slots(20))) {
                engine.start();
                await().atMost(Duration.ofSeconds(60)).until(() -> all.get() >= SERVED);
            }
        }
        double sum = 0;
        double squares = 0;
        for (AtomicInteger one : served.values()) {
            sum += one.get();
            squares += (double) one.get() * one.get();
        }
        double index = sum * sum / (lanes * squares);
        System.out.printf("fairness: lanes=%d Jain's index=%.3f%n", lanes, index);
        return index;
    }

    @Test
    void the_lane_that_has_waited_longest_comes_first(TestDatabase database) {
        List<String> queues = new ArrayList<>(
                IntStream.range(0, 12).mapToObj(i -> "lane-" + i).toList());
        long seed = System.nanoTime();
        System.out.println("lane order seed " + seed);
        Collections.shuffle(queues, new Random(seed));
        List<String> order = new CopyOnWriteArrayList<>();
        try (Storage storage = new PostgresStorage(database.pool(10), TickPlanner.defaults())) {
            for (String queue : queues) storage.newRuns().enqueue(List.of(run(queue)));
            EngineParts parts = parts(storage, (attempt, context, connection) -> {
                order.add(attempt.lane().queue());
                return Outcome.succeeded(null);
            });
            try (Engine engine = new Engine(parts, slots(1))) {
                engine.start();
                await().atMost(Duration.ofSeconds(30)).until(() -> order.size() == queues.size());
            }
        }

        assertThat(order).isEqualTo(queues);
    }

    @Test
    void the_runs_of_each_of_many_projects_spread_over_the_nodes(TestDatabase database) {
        int projects = 20;
        List<NewRun> backlog = new ArrayList<>();
        for (int i = 0; i < 60; i++)
            for (int project = 0; project < projects; project++) backlog.add(run("default", "project-" + project));
        List<Map<String, AtomicInteger>> served = List.of(new ConcurrentHashMap<>(), new ConcurrentHashMap<>());
        AtomicInteger all = new AtomicInteger();
        List<Storage> storages = new ArrayList<>();
        List<Engine> engines = new ArrayList<>();
        try {
            for (Map<String, AtomicInteger> mine : served) {
                Storage storage = new PostgresStorage(database.pool(10), TickPlanner.defaults());
                storages.add(storage);
                EngineParts parts = parts(storage, (attempt, context, connection) -> {
                    mine.computeIfAbsent(attempt.lane().project(), project -> new AtomicInteger())
                            .incrementAndGet();
                    all.incrementAndGet();
                    never.await(5, TimeUnit.MILLISECONDS);
                    return Outcome.succeeded(null);
                });
                Engine engine = new Engine(parts, slots(4));
                engines.add(engine);
                engine.start();
            }
            storages.get(0).newRuns().enqueue(backlog, true);
            await().atMost(Duration.ofSeconds(60)).until(() -> all.get() == backlog.size());
        } finally {
            engines.forEach(Engine::close);
            storages.forEach(Storage::close);
        }
        for (Map<String, AtomicInteger> mine : served) {
            assertThat(mine.values().stream().mapToInt(AtomicInteger::get).sum())
                    .isGreaterThan(backlog.size() / 5);
            assertThat(mine).hasSizeGreaterThan(projects * 3 / 4);
        }
    }

    @Test
    void lanes_under_backlog_are_served_by_weight(TestDatabase database) {
        try (Storage storage = new PostgresStorage(database.pool(10), TickPlanner.defaults())) {
            for (String queue : List.of("one", "three"))
                storage.newRuns()
                        .enqueue(IntStream.range(0, SERVED)
                                .mapToObj(i -> run(queue))
                                .toList());
            storage.lanes().setWeight(new Lane("three", "default"), 3);
            Map<String, AtomicInteger> served = Map.of("one", new AtomicInteger(), "three", new AtomicInteger());
            // The handler takes the count at the middle of the backlog; a count from outside could come after one lane
            // is done.
            AtomicInteger ofOne = new AtomicInteger();
            EngineParts parts = parts(storage, (attempt, context, connection) -> {
                int count = served.get(attempt.lane().queue()).incrementAndGet();
                if (attempt.lane().queue().equals("three") && count == SERVED / 2)
                    ofOne.set(served.get("one").get());
                return Outcome.succeeded(null);
            });
            try (Engine engine = new Engine(parts, slots(20))) {
                engine.start();
                await().atMost(Duration.ofSeconds(60)).until(() -> ofOne.get() > 0);

                assertThat(SERVED / 2 / (double) ofOne.get()).isBetween(2.5, 3.5);
            }
        }
    }

    @Test
    void long_runs_of_a_lane_leave_a_slot_for_a_run_of_another(TestDatabase database) {
        CountDownLatch over = new CountDownLatch(1);
        AtomicInteger running = new AtomicInteger();
        try (Storage storage = new PostgresStorage(database.pool(10), TickPlanner.defaults())) {
            BoundHandler.Call call = (attempt, context, connection) -> {
                started.add(attempt.lane().queue());
                if (attempt.lane().queue().equals("long")) {
                    running.incrementAndGet();
                    over.await();
                }
                return Outcome.succeeded(null);
            };
            EngineParts parts = parts(storage, Map.of("work", bound("long", call), "other", bound("short", call)));
            try (Engine engine = new Engine(parts, slots(10))) {
                engine.start();
                storage.newRuns()
                        .enqueue(
                                IntStream.range(0, 30)
                                        .mapToObj(i -> run("long"))
                                        .toList(),
                                true);
                await().until(() -> running.get() == 9);

                for (int i = 0; i < 3; i++) {
                    started.remove("short");
                    long stored = System.nanoTime();
                    storage.newRuns().enqueue(List.of(run("short")), true);
                    await().pollInterval(Duration.ofMillis(5)).until(() -> started.contains("short"));
                    assertThat(Duration.ofNanos(System.nanoTime() - stored)).isLessThan(Duration.ofSeconds(1));
                }
                assertThat(running.get()).isEqualTo(9);
                assertThat(storage.lanes().list("default"))
                        .filteredOn(lane -> lane.lane().queue().equals("long"))
                        .singleElement()
                        .satisfies(lane -> assertThat(lane.counts().running()).isEqualTo(9));
                List<Run> waiting = storage.runAdmin()
                        .list("default", RunFilter.all().queue("long").state(RunState.WAITING));
                // The node reports its busy slots with heartbeats, and the last short run may have been one of them.
                await().untilAsserted(() -> assertThat(storage.runAdmin()
                                .explain("default", waiting.get(0).id())
                                .orElseThrow()
                                .blockers())
                        .containsExactly("queue 'long' uses its share of the slots, 9 of 10 on 1 nodes;"
                                + " the rest is for others"));
                over.countDown();
                await().until(() -> running.get() == 30);
            }
        }
    }

    private static NodeConfig slots(int slots) {
        return NodeConfig.defaults()
                .concurrency(slots)
                .transactionalConcurrency(0)
                .maxClaimSize(500)
                .shutdownTimeout(Duration.ZERO);
    }

    private static BoundHandler bound(String queue, BoundHandler.Call call) {
        return new BoundHandler(
                "work", queue, Duration.ofMinutes(1), new RetryRule(Retry.none(), List.of()), false, false, call);
    }

    private static EngineParts parts(Storage storage, BoundHandler.Call call) {
        return parts(storage, Map.of("work", bound("default", call)));
    }

    private static EngineParts parts(Storage storage, Map<String, BoundHandler> handlers) {
        return new EngineParts(
                storage,
                handlers,
                () -> {
                    throw new UnsupportedOperationException();
                },
                Listeners.none(),
                TickPlanner.defaults(),
                new EngineParts.NodeIdentity("fair", "here", 1, "test"));
    }

    private static NewRun run(String queue) {
        return run(queue, "default");
    }

    private static NewRun run(String queue, String project) {
        return new NewRun(
                RunId.generate(),
                new Lane(queue, project),
                Priority.NORMAL,
                Origin.DIRECT,
                Target.handler("work"),
                new Payload("{}".getBytes(StandardCharsets.UTF_8), "json"),
                new Enqueue.Due.After(Duration.ZERO),
                null,
                null,
                null);
    }
}
