package io.carillon.it.enqueue;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.NodeConfig;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.EnqueueResult.Duplicate;
import io.carillon.run.EnqueueResult.Enqueued;
import io.carillon.run.HandlerType;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Enqueueing: unique keys, due times, order and priorities. */
@CarillonTest
class EnqueueTest {
    record Job(int number) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private final ApiFixture fixture;

    EnqueueTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void one_of_a_hundred_concurrent_callers_gets_the_key() throws Exception {
        Carillon client = fixture.client(builder -> builder);
        Enqueue keyed = Enqueue.after(Duration.ofHours(1)).uniqueKey("only one");
        ExecutorService threads = Executors.newFixedThreadPool(10);
        try {
            Callable<EnqueueResult> call = () -> client.enqueue(JOB, new Job(1), keyed);
            List<EnqueueResult> answers = new ArrayList<>();
            for (Future<EnqueueResult> one : threads.invokeAll(Collections.nCopies(100, call))) answers.add(one.get());

            assertThat(answers).filteredOn(Enqueued.class::isInstance).hasSize(1);
            assertThat(answers)
                    .extracting(EnqueueResult::run)
                    .containsOnly(answers.get(0).run());
            assertThat(fixture.query("SELECT count(*) FROM carillon.run").number())
                    .isEqualTo(1);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void a_unique_key_is_free_again_after_its_run_succeeded_or_was_cancelled() {
        Carillon carillon = fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));
        Enqueue keyed = Enqueue.now().uniqueKey("k");

        RunId done = carillon.enqueue(JOB, new Job(1), keyed).run();
        awaitState(carillon, done, RunState.SUCCEEDED);
        RunId waiting = carillon.enqueue(
                        JOB, new Job(2), Enqueue.after(Duration.ofHours(1)).uniqueKey("k"))
                .run();
        carillon.runs().cancel(waiting);

        assertThat(carillon.enqueue(JOB, new Job(3), keyed)).isInstanceOf(Enqueued.class);
    }

    @Test
    void a_unique_key_is_scoped_to_its_handler_and_not_to_its_queue() {
        Carillon client = fixture.client(builder -> builder);
        Enqueue keyed = Enqueue.after(Duration.ofHours(1)).uniqueKey("k");

        assertThat(client.enqueue(JOB, new Job(1), keyed)).isInstanceOf(Enqueued.class);
        assertThat(client.enqueue(HandlerType.of("other", Job.class), new Job(1), keyed))
                .isInstanceOf(Enqueued.class);
        assertThat(client.enqueue(JOB, new Job(1), keyed)).isInstanceOf(Duplicate.class);
        assertThat(client.enqueue(JOB, new Job(1), keyed.queue("elsewhere"))).isInstanceOf(Duplicate.class);
    }

    @Test
    void enqueue_all_with_one_unique_key_stores_only_the_first_run() {
        Carillon client = fixture.client(builder -> builder);

        List<EnqueueResult> answers = client.enqueueAll(
                JOB,
                List.of(new Job(1), new Job(2), new Job(3)),
                Enqueue.after(Duration.ofHours(1)).uniqueKey("k"));

        assertThat(answers.get(0)).isInstanceOf(Enqueued.class);
        assertThat(answers.subList(1, 3))
                .containsOnly(new Duplicate(answers.get(0).run()));
    }

    @Test
    void enqueue_all_stores_all_runs_in_order() {
        Carillon client = fixture.client(builder -> builder);
        List<Job> jobs = IntStream.range(0, 4_500).mapToObj(Job::new).toList();

        List<EnqueueResult> answers = client.enqueueAll(JOB, jobs, Enqueue.after(Duration.ofHours(1)));

        assertThat(answers).hasSize(4_500).allMatch(Enqueued.class::isInstance);
        assertThat(answers.stream().map(EnqueueResult::run))
                .doesNotHaveDuplicates()
                .isSorted();
        assertThat(fixture.query("SELECT count(*) FROM carillon.run").number()).isEqualTo(4_500);
        assertThat(client.enqueueAll(JOB, List.of())).isEmpty();
    }

    @Test
    void each_of_3000_runs_executes_once() {
        Set<Integer> done = ConcurrentHashMap.newKeySet();
        Queue<Integer> twice = new ConcurrentLinkedQueue<>();
        Carillon carillon = fixture.node(builder -> builder.handle(JOB, (job, run) -> {
            if (!done.add(job.number())) twice.add(job.number());
        }));
        fixture.node(builder -> builder.handle(JOB, (job, run) -> {
            if (!done.add(job.number())) twice.add(job.number());
        }));

        carillon.enqueueAll(JOB, IntStream.range(0, 3_000).mapToObj(Job::new).toList());

        eventually()
                .until(() -> fixture.query("SELECT count(*) FROM carillon.run_history")
                                .number()
                        == 3_000);
        assertThat(done).hasSize(3_000);
        assertThat(twice).isEmpty();
        assertThat(fixture.query("SELECT max(attempt) FROM carillon.run_history")
                        .number())
                .isEqualTo(1);
    }

    @Test
    void a_run_starts_at_its_instant_and_not_before() {
        Carillon carillon = fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));
        Instant in = Instant.parse(fixture.query("SELECT to_char((clock_timestamp() + interval '700 milliseconds')"
                        + " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")
                .text());

        Run at = awaitState(
                carillon, carillon.enqueue(JOB, new Job(1), Enqueue.at(in)).run(), RunState.SUCCEEDED);
        Run after = awaitState(
                carillon,
                carillon.enqueue(JOB, new Job(1), Enqueue.after(Duration.ofMillis(500)))
                        .run(),
                RunState.SUCCEEDED);
        Run past = awaitState(
                carillon,
                carillon.enqueue(JOB, new Job(1), Enqueue.at(Instant.EPOCH)).run(),
                RunState.SUCCEEDED);

        assertThat(at.instants().dueAt()).isEqualTo(in);
        assertThat(at.instants().startedAt()).isBetween(in, in.plusSeconds(3));
        assertThat(after.instants().dueAt())
                .isBetween(
                        after.instants().createdAt().plusMillis(499),
                        after.instants().createdAt().plusMillis(600));
        assertThat(after.instants().startedAt())
                .isBetween(after.instants().dueAt(), after.instants().dueAt().plusSeconds(3));
        assertThat(past.instants().dueAt()).isEqualTo(Instant.EPOCH);
    }

    @Test
    void a_run_of_the_year_9999_waits_and_can_be_cancelled() {
        Carillon carillon = fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));
        Instant last = Instant.parse("9999-12-31T23:59:59Z");
        RunId id = carillon.enqueue(JOB, new Job(1), Enqueue.at(last)).run();

        assertThat(carillon.runs().get(id)).hasValueSatisfying(run -> {
            assertThat(run.state()).isEqualTo(RunState.WAITING);
            assertThat(run.instants().dueAt()).isEqualTo(last);
        });
        carillon.runs().cancel(id);

        assertThat(carillon.runs().get(id).map(Run::state)).contains(RunState.CANCELLED);
        awaitState(carillon, carillon.enqueue(JOB, new Job(2)).run(), RunState.SUCCEEDED);
    }

    @Test
    void priorities_share_a_single_slot_and_none_starves() {
        CountDownLatch start = new CountDownLatch(1);
        Queue<Priority> order = new ConcurrentLinkedQueue<>();
        Carillon client = fixture.client(builder -> builder);
        for (Priority priority : Priority.values())
            client.enqueueAll(
                    JOB,
                    Collections.nCopies(150, new Job(priority.number())),
                    Enqueue.now().priority(priority));

        // The shares hold for each claim, and the runs of a claim start in the order of their priorities. Small claims
        // keep the share of the claim in which the count ends small.
        fixture.node(builder -> builder.config(NodeConfig.defaults().maxClaimSize(15))
                .concurrency(1)
                .handle(JOB, (job, run) -> {
                    start.await();
                    order.add(Priority.of(job.number()));
                }));
        start.countDown();
        eventually().until(() -> order.size() >= 150);

        List<Priority> first = order.stream().limit(150).toList();
        assertThat(Collections.frequency(first, Priority.HIGH)).isBetween(60, 100);
        assertThat(Collections.frequency(first, Priority.NORMAL)).isBetween(25, 55);
        assertThat(Collections.frequency(first, Priority.LOW)).isBetween(10, 35);
        assertThat(Collections.frequency(first, Priority.BULK)).isBetween(4, 25);
    }

    @Test
    void runs_enqueued_in_the_same_process_start_immediately() {
        Carillon carillon = fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));
        awaitState(carillon, carillon.enqueue(JOB, new Job(0)).run(), RunState.SUCCEEDED);
        List<Long> millis = new ArrayList<>();

        for (int i = 0; i < 20; i++) {
            Run run = awaitState(carillon, carillon.enqueue(JOB, new Job(i)).run(), RunState.SUCCEEDED);
            millis.add(Duration.between(run.instants().dueAt(), run.instants().startedAt())
                    .toMillis());
        }

        Collections.sort(millis);
        // Far below the poll interval of one second, the delay that a lost wake-up would cause.
        assertThat(millis.get(millis.size() / 2)).isLessThan(200);
    }

    @Test
    void runs_are_listed_by_queue_state_and_handler() {
        Carillon carillon = fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));
        RunId done =
                carillon.enqueue(JOB, new Job(1), Enqueue.now().queue("fast")).run();
        RunId later = carillon.enqueue(JOB, new Job(1), Enqueue.after(Duration.ofHours(1)))
                .run();
        awaitState(carillon, done, RunState.SUCCEEDED);

        assertThat(carillon.runs().list(RunFilter.all())).extracting(Run::id).containsExactlyInAnyOrder(done, later);
        assertThat(carillon.runs().list(RunFilter.all().queue("fast")))
                .extracting(Run::id)
                .containsExactly(done);
        assertThat(carillon.runs().list(RunFilter.all().state(RunState.WAITING)))
                .extracting(Run::id)
                .containsExactly(later);
        assertThat(carillon.runs().list(RunFilter.all().handler("unknown"))).isEmpty();
        assertThat(carillon.runs().list(RunFilter.all().limit(1))).hasSize(1);
    }

    @Test
    void projects_do_not_see_each_others_runs() {
        Carillon one = fixture.client(builder -> builder.project("one"));
        Carillon two = fixture.client(builder -> builder.project("two"));
        Enqueue keyed = Enqueue.after(Duration.ofHours(1)).uniqueKey("k");

        RunId mine = one.enqueue(JOB, new Job(1), keyed).run();

        assertThat(two.enqueue(JOB, new Job(1), keyed)).isInstanceOf(Enqueued.class);
        assertThat(two.runs().get(mine)).isEmpty();
        assertThat(two.runs().explain(mine)).isEmpty();
        assertThat(two.runs().cancel(mine)).isInstanceOf(io.carillon.run.CancelResult.Unknown.class);
        assertThat(two.runs().list(RunFilter.all())).extracting(Run::id).doesNotContain(mine);
        assertThat(one.runs().get(mine)).isPresent();
    }
}
