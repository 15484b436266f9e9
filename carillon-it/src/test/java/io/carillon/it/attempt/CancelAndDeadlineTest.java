package io.carillon.it.attempt;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.CancelResult;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Cancellation and timeouts, with handlers that react to the interrupt and handlers that ignore it. */
@CarillonTest
class CancelAndDeadlineTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private final CountDownLatch started = new CountDownLatch(1);
    private final CountDownLatch never = new CountDownLatch(1);
    private final ApiFixture fixture;

    CancelAndDeadlineTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        never.countDown();
        fixture.close();
    }

    @Test
    void a_waiting_run_is_cancelled_immediately() {
        Carillon client = fixture.client(builder -> builder);
        RunId id = client.enqueue(JOB, new Job("x"), Enqueue.after(Duration.ofHours(1)))
                .run();

        assertThat(client.runs().cancel(id)).isEqualTo(new CancelResult.Cancelled());

        Run run = client.runs().get(id).orElseThrow();
        assertThat(run.state()).isEqualTo(RunState.CANCELLED);
        assertThat(run.attempt()).isZero();
        assertThat(run.details().reason()).isEqualTo("cancelled by the application");
        assertThat(client.runs().cancel(id)).isEqualTo(new CancelResult.AlreadyEnded(RunState.CANCELLED));
    }

    @Test
    void cancel_distinguishes_unknown_runs_from_ended_runs() {
        Carillon carillon = fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));
        RunId done = carillon.enqueue(JOB, new Job("x")).run();
        awaitState(carillon, done, RunState.SUCCEEDED);

        assertThat(carillon.runs().cancel(done)).isEqualTo(new CancelResult.AlreadyEnded(RunState.SUCCEEDED));
        assertThat(carillon.runs().cancel(RunId.generate())).isEqualTo(new CancelResult.Unknown());
        assertThat(carillon.runs().get(RunId.generate())).isEmpty();
        assertThat(carillon.runs().explain(RunId.generate())).isEmpty();
        assertThat(carillon.runs().attempts(RunId.generate())).isEmpty();
    }

    @Test
    void a_running_run_is_cancelled_from_another_process() {
        AtomicInteger flagged = new AtomicInteger();
        fixture.node(builder -> builder.handle(JOB, (job, run) -> {
            started.countDown();
            try {
                never.await();
            } catch (InterruptedException interrupted) {
                if (run.isStopRequested()) flagged.incrementAndGet();
                throw interrupted;
            }
        }));
        Carillon other = fixture.client(builder -> builder);
        RunId id = other.enqueue(JOB, new Job("x")).run();
        eventually().until(() -> started.getCount() == 0);

        assertThat(other.runs().cancel(id)).isEqualTo(new CancelResult.Requested());

        Run run = awaitState(other, id, RunState.CANCELLED);
        assertThat(flagged).hasValue(1);
        assertThat(run.failures()).isZero();
        assertThat(run.attempt()).isEqualTo(1);
        assertThat(run.details().reason()).isEqualTo("cancelled by the application");
    }

    @Test
    void a_handler_that_polls_the_cancelled_flag_ends_its_run_as_cancelled() {
        Carillon carillon = fixture.node(builder -> builder.handle(JOB, (job, run) -> {
            started.countDown();
            while (!run.isStopRequested()) Thread.onSpinWait();
            throw new IllegalStateException("stopped half way");
        }));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();
        eventually().until(() -> started.getCount() == 0);

        carillon.runs().cancel(id);

        awaitState(carillon, id, RunState.CANCELLED);
    }

    @Test
    void a_handler_that_succeeds_despite_a_cancel_ends_its_run_as_succeeded() {
        CountDownLatch finish = new CountDownLatch(1);
        Carillon carillon = fixture.node(builder -> builder.handle(JOB, (job, run) -> {
            started.countDown();
            try {
                finish.await();
            } catch (InterruptedException late) {
                // The work had ended before the interrupt arrived.
            }
        }));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();
        eventually().until(() -> started.getCount() == 0);

        carillon.runs().cancel(id);

        awaitState(carillon, id, RunState.SUCCEEDED);
    }

    @Test
    void a_cancel_also_stops_a_later_attempt() {
        CountDownLatch second = new CountDownLatch(1);
        Carillon carillon = fixture.node(builder -> builder.handle(
                JOB,
                (job, run) -> {
                    if (run.attempt() == 1) {
                        started.countDown();
                        throw new IllegalStateException("once more");
                    }
                    second.countDown();
                    never.await();
                },
                HandlerOptions.defaults().retry(Retry.exponential(Duration.ZERO))));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();
        eventually().until(() -> started.getCount() == 0);
        eventually().until(() -> second.getCount() == 0);

        assertThat(carillon.runs().cancel(id)).isEqualTo(new CancelResult.Requested());

        assertThat(awaitState(carillon, id, RunState.CANCELLED).attempt()).isEqualTo(2);
    }

    @Test
    void a_handler_that_exceeds_its_timeout_is_interrupted_and_fails() {
        Carillon carillon = fixture.node(builder -> builder.handle(
                JOB,
                (job, run) -> never.await(),
                HandlerOptions.defaults()
                        .timeout(Duration.ofMillis(300))
                        .retry(Retry.exponential(Duration.ZERO).attempts(2))));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();

        Run run = awaitState(carillon, id, RunState.DEAD);

        assertThat(run.failures()).isEqualTo(2);
        assertThat(run.details().reason()).isEqualTo("timed out after PT0.3S");
        assertThat(carillon.runs().attempts(id)).singleElement().satisfies(attempt -> {
            assertThat(attempt.outcome()).isEqualTo("timed-out");
            assertThat(attempt.error()).contains("PT0.3S");
        });
    }

    @Test
    void a_handler_that_ignores_the_interrupt_is_ended_by_the_engine_and_frees_its_slot() throws Exception {
        Semaphore stubborn = new Semaphore(0);
        AtomicInteger others = new AtomicInteger();
        Carillon carillon = fixture.node(builder -> builder.concurrency(1)
                .handle(
                        JOB,
                        (job, run) -> {
                            if (!job.name().equals("stubborn")) {
                                others.incrementAndGet();
                                return;
                            }
                            started.countDown();
                            stubborn.acquireUninterruptibly();
                        },
                        HandlerOptions.defaults()
                                .timeout(Duration.ofMillis(300))
                                .retry(Retry.none())));
        try {
            RunId id = carillon.enqueue(JOB, new Job("stubborn")).run();
            assertThat(started.await(30, TimeUnit.SECONDS)).isTrue();
            RunId next = carillon.enqueue(JOB, new Job("next")).run();

            Run run = awaitState(carillon, id, RunState.DEAD);

            assertThat(run.details().reason()).isEqualTo("timed out after PT0.3S");
            awaitState(carillon, next, RunState.SUCCEEDED);
            assertThat(others).hasValue(1);
            stubborn.release();
            // The late result changes nothing.
            awaitState(carillon, carillon.enqueue(JOB, new Job("after")).run(), RunState.SUCCEEDED);
            assertThat(carillon.runs().get(id).map(Run::state)).contains(RunState.DEAD);
        } finally {
            stubborn.release();
        }
    }
}
