package io.carillon.it.attempt;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.AttemptRecord;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.Progress;
import io.carillon.run.Retry;
import io.carillon.run.ReturningHandler;
import io.carillon.run.Run;
import io.carillon.run.RunContext;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.spi.RunEvent;
import io.carillon.spi.RunListener;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Outcomes that a handler returns or throws, and the resulting state of its run. */
@CarillonTest
class OutcomesTest {
    record Job(String name) {}

    record Receipt(int amount, String customer) {}

    record Greeting(String hello) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final Retry NO_DELAY = Retry.exponential(Duration.ZERO);
    private final ApiFixture fixture;

    OutcomesTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void returning_nothing_means_success() {
        Carillon carillon = fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));

        Run run = awaitState(carillon, enqueue(carillon), RunState.SUCCEEDED);

        assertThat(run.attempt()).isEqualTo(1);
        assertThat(run.failures()).isZero();
        assertThat(run.details().result()).isNull();
        assertThat(run.instants().startedAt())
                .isBetween(run.instants().createdAt(), run.instants().endedAt());
        assertThat(carillon.runs().attempts(run.id())).isEmpty();
    }

    @Test
    void a_value_is_stored_as_the_result() {
        Carillon carillon = returning((job, run) -> Map.of("hello", job.name()), HandlerOptions.defaults());

        Run run = awaitState(carillon, enqueue(carillon), RunState.SUCCEEDED);

        assertThat(carillon.runs().result(run.id(), Greeting.class)).contains(new Greeting("x"));
    }

    @Test
    void a_handler_with_a_declared_result_type_stores_the_value() {
        ReturningHandler<Job, Receipt> handler = (job, run) -> new Receipt(12, job.name());
        Carillon carillon = fixture.node(builder -> builder.handleReturning(JOB, handler));

        Run run = awaitState(carillon, enqueue(carillon), RunState.SUCCEEDED);

        assertThat(carillon.runs().result(run.id(), Receipt.class)).contains(new Receipt(12, "x"));
    }

    @Test
    void a_handler_that_returns_outcomes_and_values_snoozes_rejects_and_stores_the_value() {
        Carillon carillon = fixture.node(builder -> builder.handleReturning(JOB, (job, run) -> {
            if (run.attempt() == 1) return Outcome.snoozed(Duration.ZERO);
            if (job.name().equals("bad")) return Outcome.rejected("unknown customer");
            return new Receipt(12, job.name());
        }));

        Run good = awaitState(carillon, enqueue(carillon), RunState.SUCCEEDED);
        Run bad = awaitState(carillon, carillon.enqueue(JOB, new Job("bad")).run(), RunState.DEAD);

        assertThat(good.attempt()).isEqualTo(2);
        assertThat(good.failures()).isZero();
        assertThat(carillon.runs().result(good.id(), Receipt.class)).contains(new Receipt(12, "x"));
        assertThat(bad.attempt()).isEqualTo(2);
        assertThat(bad.details().reason()).isEqualTo("unknown customer");
    }

    @Test
    void a_rejection_is_final() {
        Carillon carillon = returning((job, run) -> Outcome.rejected("no such \0 customer"), HandlerOptions.defaults());

        Run run = awaitState(carillon, enqueue(carillon), RunState.DEAD);

        assertThat(run.attempt()).isEqualTo(1);
        assertThat(run.details().reason()).isEqualTo("no such \uFFFD customer");
    }

    @Test
    void a_failed_attempt_is_retried_until_it_succeeds() {
        AtomicInteger calls = new AtomicInteger();
        Carillon carillon = returning(
                (job, run) -> calls.incrementAndGet() < 3 ? Outcome.failed(new IOException("disk")) : "done",
                HandlerOptions.defaults().retry(NO_DELAY));

        Run run = awaitState(carillon, enqueue(carillon), RunState.SUCCEEDED);

        assertThat(run.attempt()).isEqualTo(3);
        assertThat(run.failures()).isEqualTo(2);
        assertThat(carillon.runs().attempts(run.id()))
                .extracting(AttemptRecord::attempt, AttemptRecord::outcome)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple(1, "failed"),
                        org.assertj.core.groups.Tuple.tuple(2, "failed"));
        assertThat(carillon.runs().attempts(run.id()).get(0).error()).startsWith("java.io.IOException: disk");
    }

    @Test
    void a_run_is_dead_after_its_last_attempt_failed() {
        AtomicInteger calls = new AtomicInteger();
        Carillon carillon = fixture.node(builder -> builder.handle(
                JOB,
                (job, run) -> {
                    calls.incrementAndGet();
                    throw new IOException("bad \0 news " + "x".repeat(1024 * 1024));
                },
                HandlerOptions.defaults().retry(NO_DELAY.attempts(3))));

        Run run = awaitState(carillon, enqueue(carillon), RunState.DEAD);

        assertThat(calls).hasValue(3);
        assertThat(run.failures()).isEqualTo(3);
        assertThat(run.details().reason())
                .startsWith("java.io.IOException: bad \uFFFD news")
                .hasSizeLessThan(8_193);
    }

    @Test
    void errors_and_undeclared_exceptions_count_as_failures() {
        Queue<Throwable> throwables = new ConcurrentLinkedQueue<>(
                List.of(new StackOverflowError(), new NoClassDefFoundError("gone"), new InterruptedException("me")));
        Carillon carillon = fixture.node(builder -> builder.handle(
                JOB,
                (job, run) -> {
                    Throwable next = throwables.poll();
                    if (next != null) throw OutcomesTest.<RuntimeException>sneaky(next);
                },
                HandlerOptions.defaults().retry(NO_DELAY)));

        assertThat(awaitState(carillon, enqueue(carillon), RunState.SUCCEEDED).failures())
                .isEqualTo(3);
    }

    @Test
    void exceptions_of_no_retry_on_are_not_retried_even_when_wrapped() {
        Carillon carillon = fixture.node(builder -> builder.handle(
                JOB,
                (job, run) -> {
                    throw new IllegalStateException(new IOException("invalid address"));
                },
                HandlerOptions.defaults().retry(NO_DELAY).noRetryOn(IOException.class)));

        assertThat(awaitState(carillon, enqueue(carillon), RunState.DEAD).attempt())
                .isEqualTo(1);
    }

    @Test
    void retry_after_sets_the_retry_delay() {
        Carillon carillon = returning(
                (job, run) -> run.attempt() == 1 ? Outcome.retryAfter(Duration.ofMillis(1)) : null,
                HandlerOptions.defaults());

        Run run = awaitState(carillon, enqueue(carillon), RunState.SUCCEEDED);

        assertThat(run.failures()).isEqualTo(1);
        assertThat(carillon.runs().attempts(run.id()))
                .singleElement()
                .satisfies(attempt -> assertThat(attempt.retryDelay()).isEqualTo(Duration.ofMillis(1)));
    }

    @Test
    void a_retry_delay_is_at_most_one_year() {
        Carillon carillon = returning(
                (job, run) -> Outcome.retryAfter(Duration.ofSeconds(Long.MAX_VALUE)), HandlerOptions.defaults());
        RunId id = enqueue(carillon);

        eventually().until(() -> carillon.runs().attempts(id).size() == 1);

        assertThat(carillon.runs().attempts(id).get(0).retryDelay()).isEqualTo(Duration.ofDays(365));
        assertThat(carillon.runs().get(id).map(Run::state)).contains(RunState.WAITING);
        assertThat(carillon.runs().explain(id))
                .hasValueSatisfying(why -> assertThat(why.summary()).contains("ready at"));
    }

    @Test
    void a_snooze_does_not_count_as_a_failure() {
        Carillon carillon = returning(
                (job, run) -> run.attempt() < 12 ? Outcome.snoozed(Duration.ofSeconds(-1)) : null,
                HandlerOptions.defaults().retry(Retry.none()));

        Run run = awaitState(carillon, enqueue(carillon), RunState.SUCCEEDED);

        assertThat(run.attempt()).isEqualTo(12);
        assertThat(run.failures()).isZero();
    }

    @Test
    void a_result_that_is_too_large_is_reported() {
        Carillon carillon = returning((job, run) -> "x".repeat(70_000), HandlerOptions.defaults());

        assertThat(awaitState(carillon, enqueue(carillon), RunState.DEAD)
                        .details()
                        .reason())
                .contains("70002 bytes");
    }

    @Test
    void a_handler_sees_its_run_and_reports_progress() throws Exception {
        CountDownLatch finish = new CountDownLatch(1);
        Queue<RunContext> seen = new ConcurrentLinkedQueue<>();
        Carillon carillon = fixture.node(builder -> builder.config(ApiFixture.quickHeartbeats())
                .handle(JOB, (job, run) -> {
                    seen.add(run);
                    run.log("half \0 way");
                    run.reportProgress(5, 10);
                    finish.await(30, TimeUnit.SECONDS);
                }));
        RunId id = enqueue(carillon);

        eventually()
                .until(() -> carillon.runs()
                        .get(id)
                        .map(run -> new Progress(5, 10).equals(run.details().progress()))
                        .orElse(false));
        finish.countDown();
        Run run = awaitState(carillon, id, RunState.SUCCEEDED);

        RunContext context = seen.remove();
        assertThat(context.id()).isEqualTo(id);
        assertThat(context.attempt()).isEqualTo(1);
        assertThat(context.failures()).isZero();
        assertThat(context.plannedAt()).isEmpty();
        assertThat(context.dueAt()).isEqualTo(run.instants().dueAt());
        assertThat(context.deadline()).isAfter(run.instants().endedAt());
        assertThat(context.idempotencyKey()).isEqualTo(id.toString());
        assertThat(context.isStopRequested()).isFalse();
        assertThat(run.details().log()).isEqualTo("half \uFFFD way\n");
    }

    @Test
    void the_end_of_the_log_of_a_running_run_can_be_read() {
        CountDownLatch finish = new CountDownLatch(1);
        Carillon carillon = fixture.node(builder -> builder.config(ApiFixture.quickHeartbeats())
                .handle(JOB, (job, run) -> {
                    for (int line = 1; line <= 1_000; line++) run.log("line " + line + " of a log");
                    finish.await(30, TimeUnit.SECONDS);
                }));
        RunId id = enqueue(carillon);

        eventually()
                .until(() ->
                        carillon.runs().get(id).map(run -> run.details().log()).isPresent());
        Run running = carillon.runs().get(id).orElseThrow();
        finish.countDown();

        assertThat(running.state()).isEqualTo(RunState.RUNNING);
        assertThat(running.details().log()).startsWith("line ").endsWith("line 1000 of a log\n");
        assertThat(running.details().log().length()).isBetween(8_000, 8 * 1024);
        assertThat(awaitState(carillon, id, RunState.SUCCEEDED).details().log()).startsWith("line 1 of a log\n");
    }

    @Test
    void payloads_of_an_accepted_older_handler_name_are_converted() {
        Queue<String> names = new ConcurrentLinkedQueue<>();
        HandlerType<String> old = HandlerType.of("job.v1", String.class);
        Carillon carillon = fixture.node(builder -> builder.handle(
                JOB.accepting("job.v1", json -> new Job("was " + json)), (job, run) -> names.add(job.name())));

        RunId older = carillon.enqueue(old, "text").run();

        awaitState(carillon, older, RunState.SUCCEEDED);
        awaitState(carillon, enqueue(carillon), RunState.SUCCEEDED);
        assertThat(names).containsExactly("was \"text\"", "x");
    }

    @Test
    void a_payload_that_cannot_be_decoded_fails_and_is_retried() {
        HandlerType<List<?>> wrong = listType("job");
        Carillon carillon = fixture.node(builder ->
                builder.handle(JOB, (job, run) -> {}, HandlerOptions.defaults().retry(NO_DELAY.attempts(2))));

        Run run = awaitState(carillon, carillon.enqueue(wrong, List.of(1)).run(), RunState.DEAD);

        assertThat(run.failures()).isEqualTo(2);
        assertThat(run.details().reason()).contains("does not fit Job");
    }

    @Test
    void a_listener_receives_each_attempt_and_its_exceptions_are_ignored() {
        Queue<String> events = new ConcurrentLinkedQueue<>();
        RunListener listener = event -> {
            String what = event instanceof RunEvent.AttemptStarted
                    ? "started"
                    : event.getClass().getSimpleName();
            events.add(what + " " + event.run().attempt());
            throw OutcomesTest.<RuntimeException>sneaky(new IOException("listener"));
        };
        Carillon carillon = fixture.node(builder -> builder.listener(listener)
                .handleReturning(
                        JOB,
                        (job, run) -> run.attempt() == 1 ? Outcome.failed(new IOException()) : null,
                        // With a delay: the node reports the end of attempt 1 when the end is stored, and attempt 2
                        // would have started by then without the delay.
                        HandlerOptions.defaults().retry(Retry.exponential(Duration.ofMillis(500)))));

        awaitState(carillon, enqueue(carillon), RunState.SUCCEEDED);

        eventually().until(() -> events.size() == 4);
        assertThat(events).containsExactly("started 1", "Failed 1", "started 2", "Succeeded 2");
    }

    private Carillon returning(ReturningHandler<Job, ?> handler, HandlerOptions options) {
        return fixture.node(builder -> builder.handleReturning(JOB, handler, options));
    }

    private static RunId enqueue(Carillon carillon) {
        return carillon.enqueue(JOB, new Job("x")).run();
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static HandlerType<List<?>> listType(String name) {
        return (HandlerType) HandlerType.of(name, List.class);
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> E sneaky(Throwable error) throws E {
        throw (E) error;
    }
}
