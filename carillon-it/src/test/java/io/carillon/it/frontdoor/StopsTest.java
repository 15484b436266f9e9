package io.carillon.it.frontdoor;

import static io.carillon.it.frontdoor.House.awaitState;
import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.run.Cancellation;
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

/** Cancelling runs, and deadlines: handlers that obey and handlers that do not. */
@CarillonTest
class StopsTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private final CountDownLatch started = new CountDownLatch(1);
    private final CountDownLatch never = new CountDownLatch(1);
    private final House house;

    StopsTest(TestDatabase database) {
        house = new House(database);
    }

    @AfterEach
    void close() {
        never.countDown();
        house.close();
    }

    @Test
    void a_waiting_run_is_cancelled_at_once() {
        Carillon client = house.client(builder -> builder);
        RunId id = client.enqueue(JOB, new Job("x"), Enqueue.after(Duration.ofHours(1)))
                .run();

        assertThat(client.runs().cancel(id)).isEqualTo(new Cancellation.Cancelled());

        Run run = client.runs().get(id).orElseThrow();
        assertThat(run.state()).isEqualTo(RunState.CANCELLED);
        assertThat(run.attempt()).isZero();
        assertThat(run.details().reason()).isEqualTo("cancelled by the application");
        assertThat(client.runs().cancel(id)).isEqualTo(new Cancellation.AlreadyEnded(RunState.CANCELLED));
    }

    @Test
    void unknown_and_ended_runs_are_told_apart() {
        Carillon carillon = house.node(builder -> builder.handle(JOB, (job, run) -> {}));
        RunId done = carillon.enqueue(JOB, new Job("x")).run();
        awaitState(carillon, done, RunState.SUCCEEDED);

        assertThat(carillon.runs().cancel(done)).isEqualTo(new Cancellation.AlreadyEnded(RunState.SUCCEEDED));
        assertThat(carillon.runs().cancel(RunId.next())).isEqualTo(new Cancellation.Unknown());
        assertThat(carillon.runs().get(RunId.next())).isEmpty();
        assertThat(carillon.runs().explain(RunId.next())).isEmpty();
        assertThat(carillon.runs().attempts(RunId.next())).isEmpty();
    }

    @Test
    void a_running_run_is_stopped_from_another_node() {
        AtomicInteger flagged = new AtomicInteger();
        house.node(builder -> builder.handle(JOB, (job, run) -> {
            started.countDown();
            try {
                never.await();
            } catch (InterruptedException asked) {
                if (run.cancelled()) flagged.incrementAndGet();
                throw asked;
            }
        }));
        Carillon other = house.client(builder -> builder);
        RunId id = other.enqueue(JOB, new Job("x")).run();
        eventually().until(() -> started.getCount() == 0);

        assertThat(other.runs().cancel(id)).isEqualTo(new Cancellation.Requested());

        Run run = awaitState(other, id, RunState.CANCELLED);
        assertThat(flagged).hasValue(1);
        assertThat(run.failures()).isZero();
        assertThat(run.attempt()).isEqualTo(1);
        assertThat(run.details().reason()).isEqualTo("cancelled by the application");
    }

    @Test
    void a_cancelled_handler_that_polls_the_flag_may_end_in_order() {
        Carillon carillon = house.node(builder -> builder.handle(JOB, (job, run) -> {
            started.countDown();
            while (!run.cancelled()) Thread.onSpinWait();
            throw new IllegalStateException("stopped half way");
        }));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();
        eventually().until(() -> started.getCount() == 0);

        carillon.runs().cancel(id);

        awaitState(carillon, id, RunState.CANCELLED);
    }

    @Test
    void a_success_that_comes_first_wins_over_a_cancel() {
        CountDownLatch finish = new CountDownLatch(1);
        Carillon carillon = house.node(builder -> builder.handle(JOB, (job, run) -> {
            started.countDown();
            try {
                finish.await();
            } catch (InterruptedException late) {
                // It was done already when it was asked to stop.
            }
        }));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();
        eventually().until(() -> started.getCount() == 0);

        carillon.runs().cancel(id);

        awaitState(carillon, id, RunState.SUCCEEDED);
    }

    @Test
    void a_cancel_reaches_a_run_also_in_its_next_attempt() {
        CountDownLatch second = new CountDownLatch(1);
        Carillon carillon = house.node(builder -> builder.handle(
                JOB,
                (job, run) -> {
                    if (run.attempt() == 1) {
                        started.countDown();
                        throw new IllegalStateException("once more");
                    }
                    second.countDown();
                    never.await();
                },
                options -> options.retry(Retry.exponential(Duration.ZERO))));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();
        eventually().until(() -> started.getCount() == 0);
        eventually().until(() -> second.getCount() == 0);

        assertThat(carillon.runs().cancel(id)).isEqualTo(new Cancellation.Requested());

        assertThat(awaitState(carillon, id, RunState.CANCELLED).attempt()).isEqualTo(2);
    }

    @Test
    void a_handler_past_its_deadline_is_interrupted_and_has_failed() {
        Carillon carillon = house.node(builder -> builder.handle(
                JOB,
                (job, run) -> never.await(),
                options -> options.timeout(Duration.ofMillis(300))
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
    void a_handler_that_does_not_obey_is_ended_over_its_head_and_its_slot_is_given_away() throws Exception {
        Semaphore stubborn = new Semaphore(0);
        AtomicInteger others = new AtomicInteger();
        Carillon carillon = house.node(builder -> builder.concurrency(1)
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
                        options -> options.timeout(Duration.ofMillis(300)).retry(Retry.none())));
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
