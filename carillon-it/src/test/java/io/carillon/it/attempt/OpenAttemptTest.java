package io.carillon.it.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.CallbackToken;
import io.carillon.run.CancelResult;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.CarillonTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Attempts that stay open until a callback completes or fails them. */
@CarillonTest(at = "2026-11-15T12:00:00Z")
class OpenAttemptTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private final CarillonKit kit;
    private final List<String> callbackTokens = new CopyOnWriteArrayList<>();
    private Carillon carillon;

    OpenAttemptTest(CarillonKit kit) {
        this.kit = kit;
    }

    @BeforeEach
    void open() {
        kit.database().clear();
        carillon = Carillon.on(kit.database().dataSource())
                .handleReturning(
                        JOB,
                        (job, run) -> {
                            CallbackToken token = CallbackToken.generate();
                            callbackTokens.add(token.reveal());
                            run.log("handed over");
                            return Outcome.awaitingCallback(HOUR, token);
                        },
                        HandlerOptions.defaults()
                                .retry(Retry.exponential(MINUTE).factor(1).attempts(2)))
                .build();
        kit.drive(carillon);
    }

    @AfterEach
    void close() {
        carillon.close();
    }

    @Test
    void stays_open_until_the_callback_token_completes_it() {
        RunId run = enqueueAndHandOver();
        kit.advance(Duration.ofMinutes(59)).runDue();

        assertThat(get(run).state()).isEqualTo(RunState.RUNNING);
        assertThat(carillon.runs().explain(run).orElseThrow().summary())
                .contains("is open until a callback completes it");
        assertThat(carillon.runs().complete(run, 1, callbackTokens.get(0))).isTrue();

        assertThat(get(run).state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(get(run).attempt()).isEqualTo(1);
        assertThat(get(run).details().log()).contains("handed over");
        assertThat(callbackTokens).hasSize(1);
    }

    @Test
    void a_wrong_callback_token_is_rejected_and_the_right_token_works_once() {
        RunId run = enqueueAndHandOver();
        RunId other = enqueueAndHandOver();

        assertThat(carillon.runs().complete(run, 1, callbackTokens.get(1))).isFalse();
        assertThat(carillon.runs().complete(run, 2, callbackTokens.get(0))).isFalse();
        assertThat(carillon.runs().complete(run, 1, "")).isFalse();
        assertThat(carillon.runs().complete(RunId.generate(), 1, callbackTokens.get(0)))
                .isFalse();
        assertThat(carillon.runs().fail(run, 1, CallbackToken.digest(callbackTokens.get(0)), "x"))
                .isFalse();
        try (Carillon otherProject =
                Carillon.on(kit.database().dataSource()).project("other").build()) {
            assertThat(otherProject.runs().complete(run, 1, callbackTokens.get(0)))
                    .isFalse();
        }
        assertThat(get(run).state()).isEqualTo(RunState.RUNNING);

        assertThat(carillon.runs().complete(run, 1, callbackTokens.get(0))).isTrue();
        assertThat(carillon.runs().complete(run, 1, callbackTokens.get(0))).isFalse();
        assertThat(get(other).state()).isEqualTo(RunState.RUNNING);
    }

    @Test
    void an_external_failure_is_retried_and_the_old_callback_token_is_rejected() {
        RunId run = enqueueAndHandOver();

        assertThat(carillon.runs().fail(run, 1, callbackTokens.get(0), "no space"))
                .isTrue();
        assertThat(carillon.runs().attempts(run).get(0).error()).isEqualTo("no space");
        assertThat(carillon.runs().attempts(run).get(0).log()).contains("handed over");
        kit.advance(MINUTE).runDue();

        assertThat(get(run).attempt()).isEqualTo(2);
        assertThat(carillon.runs().complete(run, 1, callbackTokens.get(0))).isFalse();
        assertThat(carillon.runs().complete(run, 2, callbackTokens.get(0))).isFalse();
        assertThat(carillon.runs().fail(run, 2, callbackTokens.get(1), "again")).isTrue();
        assertThat(get(run).state()).isEqualTo(RunState.DEAD);
        assertThat(get(run).failures()).isEqualTo(2);
    }

    @Test
    void an_attempt_not_completed_in_time_fails() {
        RunId run = enqueueAndHandOver();
        kit.advance(HOUR.plusSeconds(1)).runDue();

        assertThat(carillon.runs().attempts(run).get(0).outcome()).isEqualTo("timed-out");
        assertThat(carillon.runs().complete(run, 1, callbackTokens.get(0)))
                .as("callback after the timeout")
                .isFalse();
        kit.advance(MINUTE).runDue();
        assertThat(get(run)).returns(2, Run::attempt).returns(1, Run::failures).returns(0, Run::crashes);
        kit.advance(HOUR.plusSeconds(1)).runDue();
        assertThat(get(run).state()).isEqualTo(RunState.DEAD);
    }

    @Test
    void a_cancel_ends_an_open_attempt_immediately() {
        RunId run = enqueueAndHandOver();

        assertThat(carillon.runs().cancel(run)).isEqualTo(new CancelResult.Cancelled());
        assertThat(get(run).state()).isEqualTo(RunState.CANCELLED);
        assertThat(carillon.runs().complete(run, 1, callbackTokens.get(0))).isFalse();
    }

    @Test
    void an_open_attempt_counts_towards_a_limit() {
        RunId first = enqueue(Enqueue.now().concurrencyKey("disk"));
        RunId second = enqueue(Enqueue.now().concurrencyKey("disk"));
        kit.runDue();

        assertThat(callbackTokens).hasSize(1);
        RunId open = get(first).state() == RunState.RUNNING ? first : second;
        carillon.runs().complete(open, 1, callbackTokens.get(0));
        kit.runDue();
        assertThat(callbackTokens).hasSize(2);
    }

    @Test
    void of_concurrent_completions_and_failures_one_is_accepted() {
        RunId run = enqueueAndHandOver();
        AtomicInteger accepted = new AtomicInteger();

        IntStream.range(0, 8).parallel().forEach(i -> {
            boolean recorded = i % 2 == 0
                    ? carillon.runs().complete(run, 1, callbackTokens.get(0))
                    : carillon.runs().fail(run, 1, callbackTokens.get(0), "no");
            if (recorded) accepted.incrementAndGet();
        });

        assertThat(accepted).hasValue(1);
    }

    @Test
    void an_open_attempt_survives_the_node_that_started_it() {
        try (ApiFixture fixture = new ApiFixture(kit.database())) {
            Carillon node = fixture.node(builder -> builder.handleReturning(JOB, (job, run) -> {
                CallbackToken token = CallbackToken.generate();
                callbackTokens.add(token.reveal());
                return Outcome.awaitingCallback(HOUR, token);
            }));
            RunId run = ((io.carillon.run.EnqueueResult.Enqueued) node.enqueue(JOB, new Job("long"))).run();
            ApiFixture.eventually()
                    .until(() ->
                            carillon.runs().get(run).orElseThrow().details().parked() != null);
            node.close();

            kit.advance(MINUTE.multipliedBy(5)).runDue();
            assertThat(callbackTokens).hasSize(1);
            assertThat(get(run).state()).isEqualTo(RunState.RUNNING);
            assertThat(carillon.runs().complete(run, 1, callbackTokens.get(0))).isTrue();
            assertThat(get(run).state()).isEqualTo(RunState.SUCCEEDED);
        }
    }

    private RunId enqueueAndHandOver() {
        RunId run = enqueue(Enqueue.now());
        kit.runDue();
        assertThat(get(run).state()).isEqualTo(RunState.RUNNING);
        return run;
    }

    private RunId enqueue(Enqueue options) {
        return carillon.enqueue(JOB, new Job("long"), options).run();
    }

    private Run get(RunId run) {
        return carillon.runs().get(run).orElseThrow();
    }
}
