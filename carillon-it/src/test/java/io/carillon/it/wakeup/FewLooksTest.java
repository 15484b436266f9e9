package io.carillon.it.wakeup;

import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.TestDatabase;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A node that was told when the next runs are ready does not ask again after each of them. */
class FewLooksTest {
    record Job(int number) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final int RUNS = 200;
    private static final int STEP_MILLIS = 10;

    @Test
    void runs_that_come_due_one_by_one_are_all_started_with_few_looks() {
        AtomicIntegerArray started = new AtomicIntegerArray(RUNS);
        try (TestDatabase database = TestDatabase.migrated();
                Carillon node = Carillon.on(database.pool(12))
                        .handle(JOB, (job, run) -> started.incrementAndGet(job.number()))
                        .start()) {
            eventually().until(() -> node.health().healthy());
            // On the database's clock, which is the machine's here; far enough ahead to be stored before the first is
            // due.
            Instant first = database.clock().now().plusSeconds(5);
            for (int i = 0; i < RUNS; i++)
                node.enqueue(JOB, new Job(i), Enqueue.at(first.plusMillis((long) i * STEP_MILLIS)));
            eventually().until(() -> started.get(0) > 0);
            long before = looks(node);
            eventually().until(() -> started.get(RUNS - 1) > 0);
            long looks = looks(node) - before;

            eventually().until(() -> IntStream.range(0, RUNS).allMatch(i -> started.get(i) == 1));
            assertThat(looks).as("a hundred instants are known from one look").isLessThan(RUNS / 5);
        }
    }

    @Test
    void a_node_does_not_act_twice_on_what_it_says_itself() {
        int some = 50;
        AtomicIntegerArray started = new AtomicIntegerArray(some);
        try (TestDatabase database = TestDatabase.migrated();
                Carillon node = Carillon.on(database.pool(12))
                        .handle(JOB, (job, run) -> started.incrementAndGet(job.number()))
                        .start()) {
            eventually().until(() -> node.health().healthy());
            long before = looks(node);
            for (int i = 0; i < some; i++) {
                int number = i;
                RunId id = node.enqueue(JOB, new Job(number)).run();
                eventually().until(() -> node.runs().get(id).map(Run::state).equals(Optional.of(RunState.SUCCEEDED)));
                assertThat(started.get(number)).isOne();
            }

            assertThat(looks(node) - before)
                    .as("each run is claimed and looked after once, not again when the node hears itself")
                    .isLessThan(some * 3 / 2);
        }
    }

    private static long looks(Carillon node) {
        return node.status().orElseThrow().counts().looks();
    }
}
