package io.carillon.it.wakeup;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

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
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A run that is committed after a node polled past its due time, and before the node can receive notifications. */
@CarillonTest
class LostHintTest {
    private static final int UNKNOWN = -1;

    private final CountDownLatch mayListen = new CountDownLatch(1);
    private final AtomicInteger polls = new AtomicInteger();
    private volatile int pollsWhenListening = UNKNOWN;
    private volatile int pollsWhenStarted = UNKNOWN;

    @Test
    void a_poll_after_listen_opened_finds_runs_that_were_committed_late(TestDatabase database) {
        try (Storage storage = new PostgresStorage(database.pool(10), TickPlanner.defaults());
                Engine engine = new Engine(parts(FaultyStorage.around(storage, this::intercept)), config())) {
            engine.start();
            eventually().until(() -> polls.get() > 0);

            // Due before the polls so far, and stored without a notification.
            storage.newRuns().enqueue(List.of(run(database.clock().now().minusSeconds(60))));
            mayListen.countDown();

            eventually().until(() -> pollsWhenStarted != UNKNOWN);
            // One poll may have been under way when LISTEN was opened.
            assertThat(pollsWhenStarted - pollsWhenListening).isLessThanOrEqualTo(2);
        }
    }

    private Object intercept(String point, Callable<Object> call) throws Exception {
        if (point.equals("wake.listen")) mayListen.await();
        Object answer = call.call();
        if (point.equals("wake.listen")) pollsWhenListening = polls.get();
        if (point.equals("lanes.readQueueHead")) polls.incrementAndGet();
        return answer;
    }

    private EngineParts parts(Storage storage) {
        BoundHandler handler = new BoundHandler(
                "work",
                Duration.ofMinutes(1),
                new RetryRule(Retry.none(), List.of()),
                false,
                (attempt, context, connection) -> {
                    pollsWhenStarted = polls.get();
                    return Outcome.succeeded(null);
                });
        return new EngineParts(
                storage,
                Map.of("work", handler),
                () -> {
                    throw new UnsupportedOperationException();
                },
                Listeners.none(),
                TickPlanner.defaults(),
                new EngineParts.NodeIdentity("late", "here", 1, "test"));
    }

    private static NodeConfig config() {
        return NodeConfig.defaults().concurrency(2).transactionalConcurrency(0).shutdownTimeout(Duration.ZERO);
    }

    private static NewRun run(Instant due) {
        return new NewRun(
                RunId.generate(),
                new Lane("late", "default"),
                Priority.NORMAL,
                Origin.DIRECT,
                Target.handler("work"),
                new Payload("{}".getBytes(StandardCharsets.UTF_8), "json"),
                new Enqueue.Due.At(due),
                null,
                null,
                null);
    }
}
