package io.carillon.it.attempt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.HandlerOptions;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Explanation;
import io.carillon.run.HandlerType;
import io.carillon.run.RedriveResult;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Retries and timeouts that a run has of its own, and what a run shows that waits for its next attempt. */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class RunPolicyTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final Job ANY = new Job("x");
    private static final Retry NO_DELAY = Retry.exponential(Duration.ZERO);
    private static final Duration BUDGET = Duration.ofSeconds(20);

    private final ApiFixture fixture;
    private final TestClock clock;

    RunPolicyTest(TestDatabase database, TestClock clock) {
        this.fixture = new ApiFixture(database);
        this.clock = clock;
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private Carillon failing() {
        return fixture.client(builder -> builder.handle(
                JOB,
                (job, run) -> {
                    throw new IllegalStateException("no route");
                },
                HandlerOptions.defaults().retry(NO_DELAY.attempts(3))));
    }

    private static Run get(Carillon carillon, RunId id) {
        return carillon.runs().get(id).orElseThrow();
    }

    @Test
    void the_retries_of_a_run_win_over_those_of_its_handler() {
        Carillon carillon = failing();
        RunId own = carillon.enqueue(JOB, ANY, Enqueue.now().retry(NO_DELAY.attempts(2)))
                .run();
        RunId of = carillon.enqueue(JOB, ANY, Enqueue.now().timeout(Duration.ofMinutes(1)))
                .run();

        carillon.runDue(BUDGET);

        assertThat(get(carillon, own)).returns(RunState.DEAD, Run::state).returns(2, Run::failures);
        assertThat(get(carillon, of)).returns(RunState.DEAD, Run::state).returns(3, Run::failures);
        assertThat(get(carillon, own).details().policy()).isEqualTo(new Run.Policy(NO_DELAY.attempts(2), null));
    }

    @Test
    void the_timeout_of_a_run_interrupts_its_handler() {
        CountDownLatch never = new CountDownLatch(1);
        Carillon carillon = fixture.client(builder -> builder.handle(JOB, (job, run) -> {
            assertThat(Duration.between(run.now(), run.deadline())).isLessThan(Duration.ofSeconds(1));
            never.await();
        }));
        RunId id = carillon.enqueue(
                        JOB, ANY, Enqueue.now().timeout(Duration.ofMillis(200)).retry(Retry.none()))
                .run();

        carillon.runDue(BUDGET);

        assertThat(get(carillon, id).state()).isEqualTo(RunState.DEAD);
        assertThat(get(carillon, id).details().reason()).isEqualTo("timed out after PT0.2S");
    }

    @Test
    void a_handler_chooses_the_retries_of_runs_that_have_none_of_their_own() {
        Carillon carillon = fixture.client(builder -> builder.handle(
                JOB,
                (job, run) -> {
                    run.retryBy(NO_DELAY.attempts(2));
                    throw new IllegalStateException("own: " + run.policy().timeout());
                },
                HandlerOptions.defaults().retry(NO_DELAY.attempts(4))));
        RunId chosen = carillon.enqueue(JOB, ANY, Enqueue.now().timeout(Duration.ofMinutes(1)))
                .run();
        RunId own = carillon.enqueue(JOB, ANY, Enqueue.now().retry(NO_DELAY.attempts(3)))
                .run();

        carillon.runDue(BUDGET);

        assertThat(get(carillon, chosen).failures()).isEqualTo(2);
        assertThat(get(carillon, chosen).details().reason()).contains("own: PT1M");
        assertThat(get(carillon, own).failures()).isEqualTo(3);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 1_500})
    void every_way_to_store_runs_stores_their_policy(int count) {
        Carillon carillon = failing();
        Enqueue own = Enqueue.now().retry(NO_DELAY.attempts(2).jitter(0.25)).timeout(Duration.ofSeconds(9));
        List<Enqueue> ways = count == 1_500
                ? List.of(own)
                : List.of(own, own.concurrencyKey("c"), own.fifoKey("f"), own.uniqueKey("u" + count));
        for (Enqueue way : ways) {
            List<Job> jobs = Collections.nCopies(way.uniqueKey() == null ? count : 1, ANY);
            List<EnqueueResult> stored = carillon.enqueueAll(JOB, jobs, way);

            assertThat(List.of(stored.get(0), stored.get(stored.size() - 1)))
                    .extracting(one -> get(carillon, one.run()).details().policy())
                    .containsOnly(new Run.Policy(own.retry(), own.timeout()));
        }
        assertThat(fixture.query("SELECT count(*) FROM carillon.run WHERE policy IS NULL")
                        .number())
                .isZero();
        carillon.enqueue(JOB, ANY);
        assertThat(fixture.query("SELECT count(*) FROM carillon.run WHERE policy IS NULL")
                        .number())
                .isEqualTo(1);
    }

    @Test
    void a_redriven_run_keeps_the_policy() {
        Carillon carillon = failing();
        RunId dead = carillon.enqueue(JOB, ANY, Enqueue.now().retry(NO_DELAY.attempts(2)))
                .run();
        carillon.runDue(BUDGET);

        RunId again = ((RedriveResult.Redriven) carillon.runs().redrive(dead)).run();
        carillon.runDue(BUDGET);

        assertThat(get(carillon, again)).returns(RunState.DEAD, Run::state).returns(2, Run::failures);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "concurrency", "fifo"})
    void a_waiting_run_shows_its_last_error_and_when_its_next_attempt_is_ready(String key) {
        Carillon carillon = failing();
        Enqueue options =
                Enqueue.now().retry(Retry.exponential(Duration.ofMinutes(10)).jitter(0));
        if (key.equals("concurrency")) options = options.concurrencyKey("k");
        if (key.equals("fifo")) options = options.fifoKey("k");
        RunId id = carillon.enqueue(JOB, ANY, options).run();
        assertThat(get(carillon, id).details().lastError()).isNull();
        Instant start = clock.now();

        carillon.runDue(BUDGET);
        clock.advance(Duration.ofMinutes(10));
        carillon.runDue(BUDGET);

        Instant next = start.plus(Duration.ofMinutes(30));
        List<Run> found = new ArrayList<>(carillon.runs().list(RunFilter.all()));
        found.add(get(carillon, id));
        assertThat(found).hasSize(2).allSatisfy(run -> {
            assertThat(run.state()).isEqualTo(RunState.WAITING);
            assertThat(run.failures()).isEqualTo(2);
            assertThat(run.details().lastError()).isEqualTo("java.lang.IllegalStateException: no route");
            assertThat(run.instants().readyAt()).isEqualTo(next);
        });
        Explanation explanation = carillon.runs().explain(id).orElseThrow();
        assertThat(explanation.blockers()).contains("it is ready at " + next);
        assertThat(explanation.summary())
                .endsWith("2 attempts failed, the last one with: java.lang.IllegalStateException: no route.");
    }

    @Test
    void an_ended_run_has_no_next_attempt() {
        Carillon carillon = failing();
        RunId id = carillon.enqueue(JOB, ANY).run();
        assertThat(get(carillon, id).instants().readyAt())
                .isEqualTo(get(carillon, id).instants().dueAt());

        carillon.runDue(BUDGET);

        assertThat(get(carillon, id).instants().readyAt()).isNull();
        assertThat(get(carillon, id).details().lastError()).isNull();
        assertThat(get(carillon, id).details().reason()).contains("no route");
    }

    @Test
    void refuses_timeouts_outside_the_limits() {
        for (Duration wrong : List.of(
                Duration.ZERO, Duration.ofNanos(999_999), Duration.ofDays(30).plusNanos(1)))
            assertThatThrownBy(() -> Enqueue.now().timeout(wrong))
                    .isInstanceOf(CarillonException.class)
                    .hasMessage("timeout must be between 1 ms and 30 days (was %s).".formatted(wrong));
    }
}
