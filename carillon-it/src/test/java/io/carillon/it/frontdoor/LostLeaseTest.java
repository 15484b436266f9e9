package io.carillon.it.frontdoor;

import static io.carillon.it.frontdoor.House.awaitState;
import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
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

/** A node that is declared dead while it works: what its handlers are told, and what becomes of their results. */
@CarillonTest
class LostLeaseTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private final Queue<String> heard = new ConcurrentLinkedQueue<>();
    private final CountDownLatch started = new CountDownLatch(1);
    private final CountDownLatch never = new CountDownLatch(1);
    private final House house;

    LostLeaseTest(TestDatabase database) {
        house = new House(database);
    }

    @AfterEach
    void close() {
        never.countDown();
        house.close();
    }

    @Test
    void a_handler_that_lost_its_lease_is_told_by_flag_and_interrupt_and_its_success_is_refused() throws Exception {
        Carillon frozen = node();
        RunId id = frozen.enqueue(JOB, new Job("x")).run();
        assertThat(started.await(30, TimeUnit.SECONDS)).isTrue();

        house.database()
                .execute(
                        "UPDATE carillon.node SET dead_at = carillon.clock(), dead_why = 'no beat' WHERE name = 'frozen'");

        Run run = awaitState(frozen, id, RunState.SUCCEEDED);
        eventually().until(() -> !heard.isEmpty());
        assertThat(heard).startsWith("interrupted, flag true");
        assertThat(run.attempt())
                .as("the second attempt is the one that counts")
                .isEqualTo(2);
        assertThat(run.failures()).isZero();
        assertThat(frozen.runs().attempts(id))
                .singleElement()
                .satisfies(attempt -> assertThat(attempt.outcome()).isEqualTo("crashed"));
        assertThat(house.number("SELECT count(*) FROM carillon.run_history")).isEqualTo(1);
        eventually()
                .until(() ->
                        house.number("SELECT count(*) FROM carillon.node WHERE name = 'frozen' AND dead_at IS NULL")
                                == 1);
        awaitState(frozen, frozen.enqueue(JOB, new Job("after")).run(), RunState.SUCCEEDED);
    }

    /** Its first attempt waits for ever; once told to stop, it says that all went well, but only when its run was taken away. */
    private Carillon node() {
        return house.node(builder -> builder.nodeName("frozen")
                .config(House.quickBeats())
                .handle(JOB, (job, run) -> {
                    if (run.attempt() > 1 || job.name().equals("after")) return;
                    started.countDown();
                    try {
                        never.await();
                    } catch (InterruptedException told) {
                        heard.add("interrupted, flag " + run.cancelled());
                        eventually().until(() -> house.number("SELECT count(*) FROM carillon.attempt") == 1);
                    }
                }));
    }
}
