package io.carillon.it.node;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A node that is declared dead during an attempt: its handler is interrupted and its result is rejected. */
@CarillonTest
class LostLeaseTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private final Queue<String> events = new ConcurrentLinkedQueue<>();
    private final CountDownLatch started = new CountDownLatch(1);
    private final CountDownLatch never = new CountDownLatch(1);
    private final ApiFixture fixture;

    LostLeaseTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        never.countDown();
        fixture.close();
    }

    @Test
    void a_handler_that_lost_its_lease_sees_flag_and_interrupt_and_its_success_is_rejected() throws Exception {
        Carillon frozen = node();
        RunId id = frozen.enqueue(JOB, new Job("x")).run();
        assertThat(started.await(30, TimeUnit.SECONDS)).isTrue();

        fixture.database()
                .execute("UPDATE carillon.node SET dead_at = carillon.clock(), dead_reason = 'no heartbeat'"
                        + " WHERE name = 'frozen'");

        Run run = awaitState(frozen, id, RunState.SUCCEEDED);
        eventually().until(() -> !events.isEmpty());
        assertThat(events).startsWith("interrupted, flag true");
        assertThat(run.attempt()).as("the accepted attempt is the second").isEqualTo(2);
        assertThat(run.failures()).isZero();
        assertThat(frozen.runs().attempts(id))
                .singleElement()
                .satisfies(attempt -> assertThat(attempt.outcome()).isEqualTo("crashed"));
        assertThat(fixture.query("SELECT count(*) FROM carillon.run_history").number())
                .isEqualTo(1);
        eventually()
                .until(() ->
                        fixture.query("SELECT count(*) FROM carillon.node WHERE name = 'frozen' AND dead_at IS NULL")
                                        .number()
                                == 1);
        awaitState(frozen, frozen.enqueue(JOB, new Job("after")).run(), RunState.SUCCEEDED);
    }

    /**
     * A node whose first attempt blocks until it is interrupted, then waits until another node has released the run,
     * and then returns without an exception.
     */
    private Carillon node() {
        return fixture.node(builder -> builder.nodeName("frozen")
                .config(ApiFixture.quickHeartbeats())
                .handle(JOB, (job, run) -> {
                    if (run.attempt() > 1 || job.name().equals("after")) return;
                    started.countDown();
                    try {
                        never.await();
                    } catch (InterruptedException leaseLost) {
                        events.add("interrupted, flag " + run.isStopRequested());
                        eventually()
                                .until(() -> fixture.query("SELECT count(*) FROM carillon.attempt")
                                                .number()
                                        == 1);
                    }
                }));
    }
}
