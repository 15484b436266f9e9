package io.carillon.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.engine.BoundHandler;
import io.carillon.engine.Engine;
import io.carillon.engine.EngineConfig;
import io.carillon.engine.EngineParts;
import io.carillon.engine.Listeners;
import io.carillon.postgres.PostgresStorage;
import io.carillon.run.Enqueue;
import io.carillon.run.Lane;
import io.carillon.run.NewRun;
import io.carillon.run.Origin;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Retry;
import io.carillon.run.RetryRule;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.schedule.TickPlanner;
import io.carillon.store.Storage;
import io.carillon.testkit.CarillonTest;
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
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A flood in one lane, and what happens to the others. */
@CarillonTest
class FairnessTest {
    private static final int LANES = 1_000;
    private static final int SERVED = 6_000;

    private final Set<String> started = ConcurrentHashMap.newKeySet();
    private final CountDownLatch never = new CountDownLatch(1);

    @Test
    void a_lane_nobody_hinted_at_is_found_behind_a_flood_in_another(TestDatabase database) throws Exception {
        try (Storage storage = new PostgresStorage(database.pool(10), TickPlanner.defaults())) {
            storage.inbox()
                    .enqueue(IntStream.range(0, 20_000)
                            .mapToObj(i -> run("flood"))
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
            EngineConfig config = EngineConfig.defaults()
                    .with(new EngineConfig.Slots(2, 0, 100))
                    .with(new EngineConfig.Pace(Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ZERO));
            try (Engine engine = new Engine(parts, config)) {
                engine.start();
                await().until(() -> started.contains("flood"));

                // Stored without a word to anybody, as by a process whose hint was lost.
                storage.inbox().enqueue(List.of(run("drop")));

                await().atMost(Duration.ofSeconds(12)).until(() -> started.contains("drop"));
                assertThat(storage.lanes().list("default"))
                        .filteredOn(lane -> lane.lane().queue().equals("flood"))
                        .allMatch(lane -> lane.waiting() > 1_000);
            }
        }
    }

    @Test
    void a_thousand_lanes_with_skewed_backlogs_are_served_alike(TestDatabase database) {
        try (Storage storage = new PostgresStorage(database.pool(10), TickPlanner.defaults())) {
            List<NewRun> backlog = new ArrayList<>();
            for (int lane = 0; lane < LANES; lane++) {
                int runs = lane % 100 == 0 ? 1_000 : 10;
                for (int i = 0; i < runs; i++) backlog.add(run("lane-" + lane));
            }
            storage.inbox().enqueue(backlog);
            Map<String, AtomicInteger> served = new ConcurrentHashMap<>();
            AtomicInteger all = new AtomicInteger();
            EngineParts parts = parts(storage, (attempt, context, connection) -> {
                if (all.incrementAndGet() <= SERVED)
                    served.computeIfAbsent(attempt.lane().queue(), lane -> new AtomicInteger())
                            .incrementAndGet();
                return Outcome.succeeded(null);
            });
            EngineConfig config = EngineConfig.defaults()
                    .with(new EngineConfig.Slots(20, 0, 500))
                    .with(new EngineConfig.Pace(Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ZERO));
            try (Engine engine = new Engine(parts, config)) {
                engine.start();
                await().atMost(Duration.ofSeconds(60)).until(() -> all.get() >= SERVED);
            }

            double sum = 0;
            double squares = 0;
            for (AtomicInteger one : served.values()) {
                sum += one.get();
                squares += (double) one.get() * one.get();
            }
            assertThat(sum * sum / (LANES * squares)).as("Jain's index").isGreaterThan(0.95);
        }
    }

    private static EngineParts parts(Storage storage, BoundHandler.Call call) {
        return new EngineParts(
                storage,
                Map.of(
                        "work",
                        new BoundHandler(
                                "work", Duration.ofMinutes(1), new RetryRule(Retry.none(), List.of()), false, call)),
                () -> {
                    throw new UnsupportedOperationException();
                },
                Listeners.none(),
                TickPlanner.defaults(),
                new EngineParts.NodeIdentity("fair", "here", 1, "test"));
    }

    private static NewRun run(String queue) {
        return new NewRun(
                RunId.next(),
                new Lane(queue, "default"),
                Priority.NORMAL,
                Origin.DIRECT,
                Target.handler("work"),
                new Payload("{}".getBytes(StandardCharsets.UTF_8), "json"),
                new Enqueue.Due.After(Duration.ZERO),
                null,
                null);
    }
}
