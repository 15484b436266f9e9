package io.carillon.it.attempt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.HandlerOptions;
import io.carillon.RunDueResult;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.it.fixture.SizedPool;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.When;
import io.carillon.spi.RunEvent;
import io.carillon.spi.RunListener;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Execution without a node: a cloud function or an external cron service calls {@code runDue}. */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class RunDueTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final Duration BUDGET = Duration.ofSeconds(30);
    private final Queue<String> done = new ConcurrentLinkedQueue<>();
    private final TestClock clock;
    private final ApiFixture fixture;

    RunDueTest(TestDatabase database, TestClock clock) {
        this.fixture = new ApiFixture(database);
        this.clock = clock;
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void plans_claims_and_executes_on_the_callers_thread_and_leaves_no_thread_behind() {
        Set<Thread> before = carillonThreads();
        Queue<Thread> used = new ConcurrentLinkedQueue<>();
        Carillon carillon =
                fixture.client(builder -> builder.handle(JOB, (job, run) -> used.add(Thread.currentThread()))
                        .schedule("minutely", When.cron("* * * * *", "UTC"), JOB, new Job("tick")));
        carillon.enqueue(JOB, new Job("direct"));
        clock.advance(Duration.ofMinutes(1));

        RunDueResult result = carillon.runDue(BUDGET);

        assertThat(result).isEqualTo(new RunDueResult(2, 0));
        assertThat(used).hasSize(2).containsOnly(Thread.currentThread());
        assertThat(carillonThreads()).isEqualTo(before);
        assertThat(carillon.runDue(BUDGET)).isEqualTo(new RunDueResult(0, 0));
        assertThat(fixture.query("SELECT count(*) FROM carillon.node").number()).isZero();
    }

    @Test
    void counts_errors_and_retries_runs_when_they_are_due() {
        Carillon carillon = fixture.client(builder -> builder.handle(
                JOB,
                (job, run) -> {
                    if (run.attempt() == 1) throw new IllegalStateException("first");
                },
                HandlerOptions.defaults().retry(Retry.exponential(Duration.ofHours(1)))));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();

        assertThat(carillon.runDue(BUDGET)).isEqualTo(new RunDueResult(1, 1));
        clock.advance(Duration.ofHours(1));
        assertThat(carillon.runDue(BUDGET)).isEqualTo(new RunDueResult(1, 0));

        assertThat(carillon.runs().get(id)).hasValueSatisfying(run -> {
            assertThat(run.state()).isEqualTo(RunState.SUCCEEDED);
            assertThat(run.failures()).isEqualTo(1);
        });
    }

    @Test
    void every_retry_waits_for_its_delay_and_the_delays_follow_the_policy() {
        Retry retry = Retry.exponential(Duration.ofSeconds(10))
                .factor(3)
                .cap(Duration.ofMinutes(5))
                .attempts(6);
        Carillon carillon = fixture.client(builder -> builder.handle(
                JOB,
                (job, run) -> {
                    throw new IllegalStateException("again");
                },
                HandlerOptions.defaults().retry(retry)));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();

        for (int failure = 1; failure < 6; failure++) {
            assertThat(carillon.runDue(BUDGET)).isEqualTo(new RunDueResult(1, 1));
            Duration pause = carillon.runs().attempts(id).get(failure - 1).retryDelay();
            assertThat(pause).isBetween(Duration.ZERO, retry.longestDelay(failure));
            if (pause.isZero()) continue;
            clock.advance(pause.minusMillis(1));
            assertThat(carillon.runDue(BUDGET))
                    .as("one millisecond before the retry is due")
                    .isEqualTo(new RunDueResult(0, 0));
            clock.advance(Duration.ofMillis(1));
        }
        assertThat(carillon.runDue(BUDGET)).isEqualTo(new RunDueResult(1, 1));

        assertThat(carillon.runs().get(id).map(Run::state)).contains(RunState.DEAD);
        clock.advance(Duration.ofDays(1));
        assertThat(carillon.runDue(BUDGET)).as("no seventh attempt").isEqualTo(new RunDueResult(0, 0));
    }

    @Test
    void executes_the_runs_of_several_claims() {
        Carillon carillon = fixture.client(builder -> builder.handle(JOB, (job, run) -> done.add(job.name())));
        carillon.enqueueAll(
                JOB, IntStream.range(0, 137).mapToObj(i -> new Job("n" + i)).toList());

        assertThat(carillon.runDue(BUDGET)).isEqualTo(new RunDueResult(137, 0));

        assertThat(done).hasSize(137).doesNotHaveDuplicates();
    }

    @Test
    void projects_share_a_call_equally_however_many_queues_they_have() {
        Carillon carillon = fixture.client(builder -> builder.handle(JOB, (job, run) -> done.add(run.project())));
        for (int queue = 0; queue < 30; queue++)
            carillon.project("many")
                    .enqueueAll(
                            JOB,
                            Collections.nCopies(10, new Job("x")),
                            Enqueue.now().queue("queue-" + queue));
        clock.advance(Duration.ofSeconds(1));
        carillon.project("one")
                .enqueueAll(
                        JOB,
                        Collections.nCopies(40, new Job("x")),
                        Enqueue.now().queue("queue"));

        assertThat(carillon.runDue(BUDGET)).isEqualTo(new RunDueResult(340, 0));

        assertThat(done.stream().limit(20).filter("one"::equals).count())
                .as("runs of project one among the first 20")
                .isBetween(8L, 12L);
        assertThat(done.stream().limit(60).filter("one"::equals).count())
                .as("runs of project one among the first 60, in several claims")
                .isGreaterThanOrEqualTo(20);
    }

    @Test
    void queues_share_a_call_equally_however_many_handlers_they_have() {
        Carillon carillon = fixture.client(builder -> {
            for (int i = 0; i < 8; i++)
                builder = builder.handle(HandlerType.of("part-" + i, Job.class), (job, run) -> done.add("shared"));
            return builder.handle(JOB, (job, run) -> done.add("own"));
        });
        for (int i = 0; i < 8; i++)
            carillon.enqueueAll(
                    HandlerType.of("part-" + i, Job.class),
                    Collections.nCopies(10, new Job("x")),
                    Enqueue.now().queue("shared"));
        clock.advance(Duration.ofSeconds(1));
        carillon.enqueueAll(
                JOB, Collections.nCopies(40, new Job("x")), Enqueue.now().queue("own"));

        assertThat(carillon.runDue(BUDGET)).isEqualTo(new RunDueResult(120, 0));

        assertThat(done.stream().limit(40).filter("own"::equals).count())
                .as("runs of queue own among the first 40")
                .isBetween(18L, 22L);
    }

    @Test
    void stops_when_the_budget_is_spent_and_hands_back_runs_that_did_not_start() {
        clock.useRealTime();
        Duration budget = Duration.ofSeconds(2);
        AtomicLong end = new AtomicLong();
        Carillon carillon = fixture.client(builder -> builder.handle(JOB, (job, run) -> {
            while (System.nanoTime() < end.get()) Thread.onSpinWait();
            done.add(job.name());
        }));
        carillon.enqueueAll(JOB, Collections.nCopies(10, new Job("x")));

        fixture.database().execute("UPDATE carillon.run SET start_by = carillon.clock() + interval '1 hour'");

        end.set(System.nanoTime() + budget.toNanos() + 500_000_000L);
        RunDueResult result = carillon.runDue(budget);

        assertThat(result).isEqualTo(new RunDueResult(1, 0));
        assertThat(fixture.query("SELECT count(*) FROM carillon.run WHERE owner IS NULL AND start_by < 'infinity'")
                        .number())
                .isEqualTo(9);
        assertThat(carillon.runDue(BUDGET)).isEqualTo(new RunDueResult(9, 0));
        assertThat(done).hasSize(10);
    }

    @Test
    void concurrent_calls_share_the_work() throws Exception {
        Carillon carillon = fixture.client(builder -> builder.handle(JOB, (job, run) -> done.add(job.name())));
        carillon.enqueueAll(
                JOB, IntStream.range(0, 300).mapToObj(i -> new Job("n" + i)).toList());
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            Callable<RunDueResult> call = () -> carillon.runDue(BUDGET);
            int processed = 0;
            for (Future<RunDueResult> one : threads.invokeAll(Collections.nCopies(4, call)))
                processed += one.get().processed();

            assertThat(processed + carillon.runDue(BUDGET).processed()).isEqualTo(300);
        } finally {
            threads.shutdownNow();
        }
        assertThat(done).hasSize(300).doesNotHaveDuplicates();
    }

    @Test
    void runs_whose_call_died_are_retried_by_a_later_call() {
        Carillon carillon = fixture.client(builder -> builder.handle(JOB, (job, run) -> done.add(job.name())));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();
        // The state that a process killed in the handler leaves: an owner, and a lease that expires.
        carillon.enqueueAll(JOB, List.of(new Job("y"), new Job("z")));
        for (int death = 0; death < 4; death++) {
            fixture.database()
                    .execute("UPDATE carillon.run SET owner = gen_random_uuid(), attempt = attempt + 1,"
                            + " started_at = carillon.clock(),"
                            + " leased_until = carillon.clock() + interval '30 seconds'");
            assertThat(carillon.runDue(BUDGET).processed()).isZero();
            clock.advance(Duration.ofSeconds(31));
            if (death < 3)
                assertThat(carillon.runDue(Duration.ofMillis(1)).processed()).isZero();
        }

        assertThat(carillon.runDue(BUDGET)).isEqualTo(new RunDueResult(3, 0));
        assertThat(carillon.runs().get(id)).hasValueSatisfying(run -> {
            assertThat(run.state()).isEqualTo(RunState.SUCCEEDED);
            assertThat(run.attempt()).isEqualTo(5);
            assertThat(run.failures()).isZero();
        });
        assertThat(fixture.query("SELECT max(crashes) + max(node_deaths) FROM carillon.run_history")
                        .number())
                .as("an expired lease is not a crash")
                .isZero();
    }

    @Test
    void a_handler_may_take_longer_than_the_budget() {
        Carillon other = fixture.client(builder -> builder.handle(JOB, (job, run) -> done.add("other")));
        Carillon carillon = fixture.client(builder -> builder.handle(JOB, (job, run) -> {
            clock.advance(Duration.ofSeconds(12));
            assertThat(other.runDue(BUDGET)).isEqualTo(new RunDueResult(0, 0));
            done.add("first");
        }));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();

        assertThat(carillon.runDue(Duration.ofSeconds(5))).isEqualTo(new RunDueResult(1, 0));

        assertThat(done).containsExactly("first");
        assertThat(carillon.runs().get(id).map(Run::state)).contains(RunState.SUCCEEDED);
    }

    @Test
    void a_handler_that_exceeds_its_timeout_is_stopped() {
        Carillon carillon = fixture.client(builder -> builder.handle(
                JOB,
                (job, run) -> new java.util.concurrent.CountDownLatch(1).await(),
                HandlerOptions.defaults()
                        .timeout(Duration.ofMillis(200))
                        .retry(Retry.exponential(Duration.ofHours(1)))));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();

        assertThat(carillon.runDue(BUDGET)).isEqualTo(new RunDueResult(1, 1));

        assertThat(carillon.runs().attempts(id)).extracting("outcome").containsExactly("timed-out");
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void a_paused_queue_full_of_runs_delays_no_other_queue() {
        Carillon carillon = fixture.client(builder -> builder.handle(JOB, (job, run) -> done.add(job.name())));
        carillon.queues().pause("frozen");
        carillon.enqueueAll(
                JOB, Collections.nCopies(450, new Job("held")), Enqueue.now().queue("frozen"));
        clock.advance(Duration.ofSeconds(1));
        carillon.enqueue(JOB, new Job("free"), Enqueue.now().queue("open"));

        assertThat(carillon.runDue(BUDGET)).isEqualTo(new RunDueResult(1, 0));

        assertThat(done).containsExactly("free");
    }

    @Test
    void runs_of_unknown_handlers_are_skipped_and_stay_visible() {
        Carillon carillon = fixture.client(builder -> builder.handle(JOB, (job, run) -> done.add(job.name())));
        HandlerType<Job> unknown = HandlerType.of("unknown", Job.class);
        List<RunId> unknownRuns = IntStream.range(0, 30)
                .mapToObj(i -> carillon.enqueue(unknown, new Job("u")).run())
                .toList();
        clock.advance(Duration.ofSeconds(1));
        carillon.enqueue(JOB, new Job("mine"));

        assertThat(carillon.runDue(BUDGET)).isEqualTo(new RunDueResult(1, 0));

        assertThat(done).containsExactly("mine");
        assertThat(carillon.runs().get(unknownRuns.get(0)).map(Run::state)).contains(RunState.WAITING);
        assertThat(carillon.runs().get(unknownRuns.get(0)).map(Run::failures)).contains(0);
        assertThat(carillon.health().issues())
                .anySatisfy(issue -> assertThat(issue.text()).contains("the handler 'unknown'"));
        Carillon newer = fixture.client(builder -> builder.handle(unknown, (job, run) -> done.add(job.name())));
        assertThat(newer.runDue(BUDGET)).isEqualTo(new RunDueResult(30, 0));
    }

    @Test
    void a_listener_that_fails_does_not_end_the_call() {
        RunListener broken = event -> {
            if (event instanceof RunEvent.AttemptEnded) throw new IllegalStateException("listener");
        };
        Carillon carillon =
                fixture.client(builder -> builder.listener(broken).handle(JOB, (job, run) -> done.add(job.name())));
        carillon.enqueueAll(JOB, List.of(new Job("a"), new Job("b")));

        assertThat(carillon.runDue(BUDGET)).isEqualTo(new RunDueResult(2, 0));
        assertThat(done).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void a_transactional_handler_works_in_run_due_as_well() {
        Carillon carillon = fixture.client(builder -> builder.handleInTransaction(
                JOB,
                (job, run, connection) -> {
                    assertThat(connection.getAutoCommit()).isFalse();
                    if (run.attempt() == 1) throw new IllegalStateException("roll back");
                    done.add(job.name());
                },
                HandlerOptions.defaults().retry(Retry.exponential(Duration.ZERO))));
        carillon.enqueue(JOB, new Job("x"));

        assertThat(carillon.runDue(BUDGET)).isEqualTo(new RunDueResult(2, 1));

        assertThat(done).containsExactly("x");
    }

    @Test
    void a_snoozed_run_is_not_executed_again_before_it_is_due() {
        Carillon carillon = fixture.client(
                builder -> builder.handleReturning(JOB, (job, run) -> Outcome.snoozed(Duration.ofHours(1))));
        carillon.enqueue(JOB, new Job("x"));

        assertThat(carillon.runDue(BUDGET)).isEqualTo(new RunDueResult(1, 0));
        assertThat(carillon.runDue(BUDGET)).isEqualTo(new RunDueResult(0, 0));
    }

    @Test
    void a_budget_outside_its_range_is_rejected() {
        Carillon carillon = fixture.client(builder -> builder);

        for (Duration budget : List.of(
                Duration.ZERO, Duration.ofMillis(-1), Duration.ofHours(2), Duration.ofSeconds(Long.MAX_VALUE))) {
            CarillonException refusal = catchThrowableOfType(CarillonException.class, () -> carillon.runDue(budget));
            assertThat(refusal).isNotNull();
            assertThat(refusal.code()).isEqualTo(ErrorCode.INVALID_OPTION);
        }
    }

    @Test
    void needs_only_one_connection() {
        Carillon small =
                fixture.add(Carillon.on(new SizedPool(fixture.database().pool(1), 1))
                        .handle(JOB, (job, run) -> done.add(job.name()))
                        .build());
        small.enqueue(JOB, new Job("x"), Enqueue.at(Instant.EPOCH));

        assertThat(small.runDue(BUDGET)).isEqualTo(new RunDueResult(1, 0));
    }

    private static Set<Thread> carillonThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("carillon-"))
                .filter(thread -> !thread.getName().startsWith("carillon-test"))
                .collect(Collectors.toSet());
    }
}
