package io.carillon.it.wakeup;

import static io.carillon.it.fixture.ApiFixture.eventually;

import io.carillon.Carillon;
import io.carillon.Wakeup;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.run.Lane;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.node.Hint;
import io.carillon.internal.store.node.WakeChannel;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A node that claims runs whose handler only another node has. The other node may have read past these runs meanwhile,
 * and on a busy machine its next full poll is up to a minute away.
 */
@CarillonTest
class PassedOnRunsTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final HandlerType<Job> OTHER = HandlerType.of("other", Job.class);
    private static final Lane LANE = new Lane("job", "default");

    private final CountDownLatch finish = new CountDownLatch(1);
    private final TestDatabase database;
    private final ApiFixture fixture;

    PassedOnRunsTest(TestDatabase database) {
        this.database = database;
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        finish.countDown();
        fixture.close();
    }

    @Test
    void the_other_nodes_are_told() throws Exception {
        CountDownLatch full = new CountDownLatch(1);
        // Sends no notification itself.
        Carillon owner = fixture.node(
                builder -> builder.wakeup(Wakeup.polling()).concurrency(1).handle(JOB, (job, run) -> {
                    full.countDown();
                    finish.await();
                }));
        owner.enqueue(JOB, new Job("long"));
        full.await();
        try (Storage storage = new PostgresStorage(database.pool(4), TickPlanner.defaults());
                WakeChannel.Subscription subscription = storage.wake().listen().orElseThrow()) {
            owner.enqueueAll(JOB, Collections.nCopies(3, new Job("waits")));
            fixture.node(builder -> builder.handle(OTHER, (job, run) -> {}));

            eventually()
                    .until(() -> subscription.await(Duration.ofSeconds(1)).stream()
                            .anyMatch(hint -> hint instanceof Hint.Work work
                                    && work.lane().equals(LANE)));
        }
    }
}
