package io.carillon.it.claim;

import static io.carillon.it.fixture.ApiFixture.eventually;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A node that knows when the next runs are ready does not read the queue head again after each run. */
class QueueHeadReadsTest {
    record Job(int number) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final int RUNS = 200;
    private static final int STEP_MILLIS = 10;

    @Tag("slow")
    @Test
    void runs_that_become_due_one_by_one_are_all_started_with_few_queue_head_reads() {
        AtomicIntegerArray started = new AtomicIntegerArray(RUNS);
        try (TestDatabase database = TestDatabase.migrated();
                Carillon node = Carillon.on(database.pool(12))
                        .handle(JOB, (job, run) -> started.incrementAndGet(job.number()))
                        .start()) {
            eventually().until(() -> node.health().healthy());
            // By the database clock, which is the clock of this machine here. The first run is far enough ahead that
            // all runs are stored before it is due.
            Instant first = database.clock().now().plusSeconds(5);
            for (int i = 0; i < RUNS; i++)
                node.enqueue(JOB, new Job(i), Enqueue.at(first.plusMillis((long) i * STEP_MILLIS)));
            eventually().until(() -> started.get(0) > 0);
            long before = headReads(node);
            eventually().until(() -> started.get(RUNS - 1) > 0);
            long headReads = headReads(node) - before;

            eventually().until(() -> IntStream.range(0, RUNS).allMatch(i -> started.get(i) == 1));
            assertThat(headReads)
                    .as("one read returns the due times of a hundred runs")
                    .isLessThan(RUNS / 5);
        }
    }

    @Test
    void a_node_ignores_its_own_wakeup_signals() {
        int some = 50;
        AtomicIntegerArray started = new AtomicIntegerArray(some);
        try (TestDatabase database = TestDatabase.migrated();
                Carillon node = Carillon.on(database.pool(12))
                        .handle(JOB, (job, run) -> started.incrementAndGet(job.number()))
                        .start()) {
            eventually().until(() -> node.health().healthy());
            long before = headReads(node);
            for (int i = 0; i < some; i++) {
                int number = i;
                RunId id = node.enqueue(JOB, new Job(number)).run();
                eventually().until(() -> node.runs().get(id).map(Run::state).equals(Optional.of(RunState.SUCCEEDED)));
                assertThat(started.get(number)).isOne();
            }

            assertThat(headReads(node) - before)
                    .as("the node reads the queue head about once per run, and not again for its own notifications")
                    .isLessThan(some * 3 / 2);
        }
    }

    private static long headReads(Carillon node) {
        return node.status().orElseThrow().counts().polls();
    }
}
