package io.carillon.it.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.Carillon;
import io.carillon.TickResult;
import io.carillon.run.Attempt;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunListener;
import io.carillon.run.RunState;
import io.carillon.run.Transition;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
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

/** Work without a node: a function or an external cron calls tick. */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class TickTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final Duration BUDGET = Duration.ofSeconds(30);
    private final Queue<String> done = new ConcurrentLinkedQueue<>();
    private final TestClock clock;
    private final House house;

    TickTest(TestDatabase database, TestClock clock) {
        this.house = new House(database);
        this.clock = clock;
    }

    @AfterEach
    void close() {
        house.close();
    }

    @Test
    void plans_claims_and_executes_on_the_callers_thread_and_leaves_no_other_behind() {
        Set<Thread> before = carillonThreads();
        Queue<Thread> used = new ConcurrentLinkedQueue<>();
        Carillon carillon = house.client(builder -> builder.handle(JOB, (job, run) -> used.add(Thread.currentThread()))
                .schedule("minutely", When.cron("* * * * *", "UTC"), JOB, new Job("tick")));
        carillon.enqueue(JOB, new Job("direct"));
        clock.advance(Duration.ofMinutes(1));

        TickResult result = carillon.tick(BUDGET);

        assertThat(result).isEqualTo(new TickResult(2, 0));
        assertThat(used).hasSize(2).containsOnly(Thread.currentThread());
        assertThat(carillonThreads()).isEqualTo(before);
        assertThat(carillon.tick(BUDGET)).isEqualTo(new TickResult(0, 0));
        assertThat(house.number("SELECT count(*) FROM carillon.node")).isZero();
    }

    @Test
    void counts_errors_and_retries_when_their_time_has_come() {
        Carillon carillon = house.client(builder -> builder.handle(
                JOB,
                (job, run) -> {
                    if (run.attempt() == 1) throw new IllegalStateException("first");
                },
                options -> options.retry(Retry.exponential(Duration.ofHours(1)))));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();

        assertThat(carillon.tick(BUDGET)).isEqualTo(new TickResult(1, 1));
        clock.advance(Duration.ofHours(1));
        assertThat(carillon.tick(BUDGET)).isEqualTo(new TickResult(1, 0));

        assertThat(carillon.runs().get(id)).hasValueSatisfying(run -> {
            assertThat(run.state()).isEqualTo(RunState.SUCCEEDED);
            assertThat(run.failures()).isEqualTo(1);
        });
    }

    @Test
    void every_attempt_waits_for_its_pause_and_the_pauses_keep_to_the_policy() {
        Retry retry = Retry.exponential(Duration.ofSeconds(10))
                .factor(3)
                .cap(Duration.ofMinutes(5))
                .attempts(6);
        Carillon carillon = house.client(builder -> builder.handle(
                JOB,
                (job, run) -> {
                    throw new IllegalStateException("again");
                },
                options -> options.retry(retry)));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();

        for (int failure = 1; failure < 6; failure++) {
            assertThat(carillon.tick(BUDGET)).isEqualTo(new TickResult(1, 1));
            Duration pause = carillon.runs().attempts(id).get(failure - 1).pause();
            assertThat(pause).isBetween(Duration.ZERO, retry.longestPause(failure));
            if (pause.isZero()) continue;
            clock.advance(pause.minusMillis(1));
            assertThat(carillon.tick(BUDGET)).as("a millisecond early").isEqualTo(new TickResult(0, 0));
            clock.advance(Duration.ofMillis(1));
        }
        assertThat(carillon.tick(BUDGET)).isEqualTo(new TickResult(1, 1));

        assertThat(carillon.runs().get(id).map(Run::state)).contains(RunState.DEAD);
        clock.advance(Duration.ofDays(1));
        assertThat(carillon.tick(BUDGET)).as("no seventh attempt").isEqualTo(new TickResult(0, 0));
    }

    @Test
    void works_through_more_than_one_claim() {
        Carillon carillon = house.client(builder -> builder.handle(JOB, (job, run) -> done.add(job.name())));
        carillon.enqueueAll(
                JOB, IntStream.range(0, 137).mapToObj(i -> new Job("n" + i)).toList());

        assertThat(carillon.tick(BUDGET)).isEqualTo(new TickResult(137, 0));

        assertThat(done).hasSize(137).doesNotHaveDuplicates();
    }

    @Test
    void projects_share_a_call_equally_however_many_queues_they_have() {
        Carillon carillon = house.client(builder -> builder.handle(JOB, (job, run) -> done.add(run.project())));
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

        assertThat(carillon.tick(BUDGET)).isEqualTo(new TickResult(340, 0));

        assertThat(done.stream().limit(20).filter("one"::equals).count())
                .as("of the first 20")
                .isBetween(8L, 12L);
        assertThat(done.stream().limit(60).filter("one"::equals).count())
                .as("of the first 60, in several claims")
                .isGreaterThanOrEqualTo(20);
    }

    @Test
    void queues_share_a_call_equally_however_many_handlers_they_have() {
        Carillon carillon = house.client(builder -> {
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

        assertThat(carillon.tick(BUDGET)).isEqualTo(new TickResult(120, 0));

        assertThat(done.stream().limit(40).filter("own"::equals).count())
                .as("of the first 40")
                .isBetween(18L, 22L);
    }

    @Test
    void stops_when_the_budget_is_spent_and_gives_back_what_it_did_not_start() {
        clock.free();
        Duration budget = Duration.ofSeconds(2);
        AtomicLong end = new AtomicLong();
        Carillon carillon = house.client(builder -> builder.handle(JOB, (job, run) -> {
            while (System.nanoTime() < end.get()) Thread.onSpinWait();
            done.add(job.name());
        }));
        carillon.enqueueAll(JOB, Collections.nCopies(10, new Job("x")));

        house.database().execute("UPDATE carillon.run SET start_by = carillon.clock() + interval '1 hour'");

        end.set(System.nanoTime() + budget.toNanos() + 500_000_000L);
        TickResult result = carillon.tick(budget);

        assertThat(result).isEqualTo(new TickResult(1, 0));
        assertThat(house.number("SELECT count(*) FROM carillon.run WHERE owner IS NULL AND start_by < 'infinity'"))
                .isEqualTo(9);
        assertThat(carillon.tick(BUDGET)).isEqualTo(new TickResult(9, 0));
        assertThat(done).hasSize(10);
    }

    @Test
    void many_at_the_same_time_share_the_work() throws Exception {
        Carillon carillon = house.client(builder -> builder.handle(JOB, (job, run) -> done.add(job.name())));
        carillon.enqueueAll(
                JOB, IntStream.range(0, 300).mapToObj(i -> new Job("n" + i)).toList());
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            Callable<TickResult> tick = () -> carillon.tick(BUDGET);
            int processed = 0;
            for (Future<TickResult> one : threads.invokeAll(Collections.nCopies(4, tick)))
                processed += one.get().processed();

            assertThat(processed + carillon.tick(BUDGET).processed()).isEqualTo(300);
        } finally {
            threads.shutdownNow();
        }
        assertThat(done).hasSize(300).doesNotHaveDuplicates();
    }

    @Test
    void runs_whose_tick_died_are_tried_again_by_a_later_tick() {
        Carillon carillon = house.client(builder -> builder.handle(JOB, (job, run) -> done.add(job.name())));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();
        // What a process leaves behind that is killed in the handler: owned, and leased for a time that runs out.
        carillon.enqueueAll(JOB, List.of(new Job("y"), new Job("z")));
        for (int death = 0; death < 4; death++) {
            house.database()
                    .execute(
                            "UPDATE carillon.run SET owner = gen_random_uuid(), attempt = attempt + 1, started_at = carillon.clock(),"
                                    + " leased_until = carillon.clock() + interval '30 seconds'");
            assertThat(carillon.tick(BUDGET).processed()).isZero();
            clock.advance(Duration.ofSeconds(31));
            if (death < 3)
                assertThat(carillon.tick(Duration.ofMillis(1)).processed()).isZero();
        }

        assertThat(carillon.tick(BUDGET)).isEqualTo(new TickResult(3, 0));
        assertThat(carillon.runs().get(id)).hasValueSatisfying(run -> {
            assertThat(run.state()).isEqualTo(RunState.SUCCEEDED);
            assertThat(run.attempt()).isEqualTo(5);
            assertThat(run.failures()).isZero();
        });
        assertThat(house.number("SELECT max(crashes) + max(suspect) FROM carillon.run_history"))
                .as("a lease that ends is no crash")
                .isZero();
    }

    @Test
    void a_handler_may_take_longer_than_the_budget() {
        Carillon other = house.client(builder -> builder.handle(JOB, (job, run) -> done.add("other")));
        Carillon carillon = house.client(builder -> builder.handle(JOB, (job, run) -> {
            clock.advance(Duration.ofSeconds(12));
            assertThat(other.tick(BUDGET)).isEqualTo(new TickResult(0, 0));
            done.add("first");
        }));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();

        assertThat(carillon.tick(Duration.ofSeconds(5))).isEqualTo(new TickResult(1, 0));

        assertThat(done).containsExactly("first");
        assertThat(carillon.runs().get(id).map(Run::state)).contains(RunState.SUCCEEDED);
    }

    @Test
    void a_handler_that_exceeds_its_timeout_is_stopped() {
        Carillon carillon = house.client(builder -> builder.handle(
                JOB,
                (job, run) -> new java.util.concurrent.CountDownLatch(1).await(),
                options -> options.timeout(Duration.ofMillis(200)).retry(Retry.exponential(Duration.ofHours(1)))));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();

        assertThat(carillon.tick(BUDGET)).isEqualTo(new TickResult(1, 1));

        assertThat(carillon.runs().attempts(id)).extracting("outcome").containsExactly("timed-out");
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void a_paused_queue_full_of_runs_hides_no_other_queue() {
        Carillon carillon = house.client(builder -> builder.handle(JOB, (job, run) -> done.add(job.name())));
        carillon.queues().pause("frozen");
        carillon.enqueueAll(
                JOB, Collections.nCopies(450, new Job("held")), Enqueue.now().queue("frozen"));
        clock.advance(Duration.ofSeconds(1));
        carillon.enqueue(JOB, new Job("free"), Enqueue.now().queue("open"));

        assertThat(carillon.tick(BUDGET)).isEqualTo(new TickResult(1, 0));

        assertThat(done).containsExactly("free");
    }

    @Test
    void runs_of_unknown_handlers_are_passed_over_and_stay_visible() {
        Carillon carillon = house.client(builder -> builder.handle(JOB, (job, run) -> done.add(job.name())));
        HandlerType<Job> unknown = HandlerType.of("unknown", Job.class);
        List<RunId> strangers = IntStream.range(0, 30)
                .mapToObj(i -> carillon.enqueue(unknown, new Job("u")).run())
                .toList();
        clock.advance(Duration.ofSeconds(1));
        carillon.enqueue(JOB, new Job("mine"));

        assertThat(carillon.tick(BUDGET)).isEqualTo(new TickResult(1, 0));

        assertThat(done).containsExactly("mine");
        assertThat(carillon.runs().get(strangers.get(0)).map(Run::state)).contains(RunState.WAITING);
        assertThat(carillon.runs().get(strangers.get(0)).map(Run::failures)).contains(0);
        assertThat(carillon.health().issues())
                .anySatisfy(issue -> assertThat(issue).contains("handler named 'unknown'"));
        Carillon newer = house.client(builder -> builder.handle(unknown, (job, run) -> done.add(job.name())));
        assertThat(newer.tick(BUDGET)).isEqualTo(new TickResult(30, 0));
    }

    @Test
    void a_listener_that_fails_does_not_end_the_tick() {
        RunListener broken = new RunListener() {
            @Override
            public void ended(Attempt attempt, Transition transition, Duration took) {
                throw new IllegalStateException("listener");
            }
        };
        Carillon carillon =
                house.client(builder -> builder.listener(broken).handle(JOB, (job, run) -> done.add(job.name())));
        carillon.enqueueAll(JOB, List.of(new Job("a"), new Job("b")));

        assertThat(carillon.tick(BUDGET)).isEqualTo(new TickResult(2, 0));
        assertThat(done).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void a_transactional_handler_works_in_a_tick_as_well() {
        Carillon carillon = house.client(builder -> builder.handleInTransaction(
                JOB,
                (job, run, connection) -> {
                    assertThat(connection.getAutoCommit()).isFalse();
                    if (run.attempt() == 1) throw new IllegalStateException("roll back");
                    done.add(job.name());
                },
                options -> options.retry(Retry.exponential(Duration.ZERO))));
        carillon.enqueue(JOB, new Job("x"));

        assertThat(carillon.tick(BUDGET)).isEqualTo(new TickResult(2, 1));

        assertThat(done).containsExactly("x");
    }

    @Test
    void a_snooze_without_a_pause_does_not_spin_for_ever() {
        Carillon carillon = house.client(
                builder -> builder.handleReturning(JOB, (job, run) -> Outcome.snoozed(Duration.ofHours(1))));
        carillon.enqueue(JOB, new Job("x"));

        assertThat(carillon.tick(BUDGET)).isEqualTo(new TickResult(1, 0));
        assertThat(carillon.tick(BUDGET)).isEqualTo(new TickResult(0, 0));
    }

    @Test
    void a_budget_outside_its_range_is_refused() {
        Carillon carillon = house.client(builder -> builder);

        for (Duration budget : List.of(
                Duration.ZERO, Duration.ofMillis(-1), Duration.ofHours(2), Duration.ofSeconds(Long.MAX_VALUE))) {
            CarillonException refusal = catchThrowableOfType(CarillonException.class, () -> carillon.tick(budget));
            assertThat(refusal).isNotNull();
            assertThat(refusal.code()).isEqualTo(ErrorCode.INVALID_OPTION);
        }
    }

    @Test
    void needs_no_pool_for_loops_it_does_not_run() {
        Carillon small = house.add(Carillon.on(new SizedPool(house.database().pool(1), 1))
                .handle(JOB, (job, run) -> done.add(job.name()))
                .build());
        small.enqueue(JOB, new Job("x"), Enqueue.at(Instant.EPOCH));

        assertThat(small.tick(BUDGET)).isEqualTo(new TickResult(1, 0));
    }

    private static Set<Thread> carillonThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("carillon-"))
                .filter(thread -> !thread.getName().startsWith("carillon-test"))
                .collect(Collectors.toSet());
    }
}
