package io.carillon.it.wakeup;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.Wakeup;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.run.Run;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The time from due to start of runs that another process enqueues at intervals: the numbers of docs/wakeup.md. */
@CarillonTest
@Tag("slow")
class WakeLatencyTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final int RUNS = 20;
    private static final long SEED = 7;
    private final ApiFixture fixture;
    private final MemoryTransport transport = new MemoryTransport();

    WakeLatencyTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
        transport.close();
        fixture.database().execute("DELETE FROM carillon.node");
    }

    @Test
    void notify_starts_within_a_tenth_of_a_second() {
        assertThat(median(Wakeup.notifying())).isLessThan(100);
    }

    @Test
    void queue_starts_within_a_second() {
        assertThat(median(Wakeup.queue(transport))).isLessThan(1_000);
    }

    @Test
    void hybrid_starts_within_a_second() {
        assertThat(median(Wakeup.hybrid(transport))).isLessThan(1_000);
    }

    @Test
    void polling_starts_within_its_bound() {
        assertThat(median(Wakeup.polling())).isLessThan(30_000);
    }

    private long median(Wakeup wakeup) {
        Carillon node = fixture.node(builder -> builder.wakeup(wakeup).handle(JOB, (job, run) -> {}));
        eventually().until(() -> node.health().healthy());
        Carillon other = fixture.client(builder -> builder.wakeup(wakeup));
        Random pauses = new Random(SEED);
        List<Long> millis = IntStream.range(0, RUNS)
                .mapToObj(i -> {
                    LockSupport.parkNanos(
                            Duration.ofMillis(pauses.nextInt(1_000)).toNanos());
                    return waited(
                            awaitState(node, other.enqueue(JOB, new Job("x")).run(), RunState.SUCCEEDED));
                })
                .sorted()
                .toList();
        System.out.printf(
                "latency mode=%s runs=%d seed=%d median=%d ms highest=%d ms%n",
                wakeup.mode().text(), RUNS, SEED, millis.get(RUNS / 2), millis.get(RUNS - 1));
        return millis.get(RUNS / 2);
    }

    private static long waited(Run run) {
        return Duration.between(run.instants().dueAt(), run.instants().startedAt())
                .toMillis();
    }
}
