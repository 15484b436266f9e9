package io.carillon.it.attempt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.HandlerOptions;
import io.carillon.PauseOptions;
import io.carillon.QueueLimits;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.Handler;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.spi.ExecuteResult;
import io.carillon.spi.ExecuteResult.Ended;
import io.carillon.spi.ExecuteResult.Executed;
import io.carillon.spi.ExecuteResult.NotDue;
import io.carillon.spi.ExecuteResult.NotReady;
import io.carillon.spi.ExecuteResult.Running;
import io.carillon.spi.ExecuteResult.Unknown;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import io.carillon.workflow.Signal;
import io.carillon.workflow.Start;
import io.carillon.workflow.Step;
import io.carillon.workflow.WorkflowType;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Execution of one run that the caller names, without a node. */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class ExecuteTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final WorkflowType<Job> ORDER = WorkflowType.of("order", Job.class);
    private static final Step<String> CHARGE = Step.of("charge", String.class);
    private static final Signal<String> APPROVAL = Signal.of("approval", String.class);
    private final Queue<String> done = new ConcurrentLinkedQueue<>();
    private final TestClock clock;
    private final ApiFixture fixture;

    ExecuteTest(TestDatabase database, TestClock clock) {
        this.fixture = new ApiFixture(database);
        this.clock = clock;
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void executes_the_named_run_and_no_other_one() {
        Carillon carillon = client((job, run) -> done.add(job.name()));
        RunId first = carillon.enqueue(JOB, new Job("first")).run();
        RunId second = carillon.enqueue(JOB, new Job("second")).run();

        ExecuteResult result = carillon.execute(second);

        assertThat(executed(result).state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(((Executed) result).failed()).isFalse();
        assertThat(done).containsExactly("second");
        assertThat(state(carillon, first)).isEqualTo(RunState.WAITING);
        assertThat(carillon.execute(second)).isEqualTo(new Ended(RunState.SUCCEEDED));
        assertThat(carillon.execute(RunId.generate())).isEqualTo(new Unknown());
        assertThat(carillon.execute("elsewhere", first)).isEqualTo(new Unknown());
        assertThat(fixture.query("SELECT count(*) FROM carillon.node").number()).isZero();
    }

    @Test
    void a_run_that_is_not_due_is_not_executed() {
        Carillon carillon = client((job, run) -> {
            if (run.attempt() == 1) throw new IllegalStateException("first");
            done.add(job.name());
        });
        Instant due = clock.now().plus(Duration.ofHours(1));
        RunId run = carillon.enqueue(JOB, new Job("x"), Enqueue.at(due)).run();

        assertThat(carillon.execute(run)).isEqualTo(new NotDue(due));
        clock.advance(Duration.ofHours(1));
        ExecuteResult failed = carillon.execute(run);
        assertThat(((Executed) failed).failed()).isTrue();
        Instant retry = executed(failed).instants().readyAt();
        assertThat(carillon.execute(run)).isEqualTo(new NotDue(retry));
        clock.advance(Duration.between(clock.now(), retry));

        assertThat(executed(carillon.execute(run)).state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(done).hasSize(1);
    }

    @Test
    void a_pause_and_a_limit_of_the_queue_hold_the_run() {
        AtomicReference<RunId> other = new AtomicReference<>();
        Carillon second = client((job, run) -> done.add("too many"));
        Carillon carillon = client((job, run) -> {
            done.add(job.name());
            if (job.name().equals("outer")) done.add(notReady(second.execute(other.get())));
        });
        RunId outer = carillon.enqueue(JOB, new Job("outer")).run();
        RunId inner = carillon.enqueue(JOB, new Job("inner")).run();
        other.set(inner);
        carillon.queues().pause("job", PauseOptions.untilResumed().reason("maintenance"));

        assertThat(notReady(carillon.execute(outer))).contains("maintenance");
        carillon.queues().resume("job");
        carillon.queues().limit("job", QueueLimits.maxRunning(1));

        assertThat(executed(carillon.execute(outer)).state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(done).hasSize(2).first().isEqualTo("outer");
        assertThat(done).last().asString().contains("limit");
        assertThat(executed(carillon.execute(inner)).state()).isEqualTo(RunState.SUCCEEDED);
    }

    @Test
    void a_run_at_a_gate_or_behind_another_run_is_executed_when_the_one_before_it_has_ended() {
        Carillon carillon = client((job, run) -> done.add(job.name()));
        Enqueue inOrder = Enqueue.now().fifoKey("ann");
        RunId first = carillon.enqueue(JOB, new Job("first"), inOrder).run();
        RunId second = carillon.enqueue(JOB, new Job("second"), inOrder).run();
        RunId third = carillon.enqueue(JOB, new Job("third"), Enqueue.afterRun(second))
                .run();

        assertThat(notReady(carillon.execute(second))).contains("ann");
        assertThat(notReady(carillon.execute(third))).contains(second.toString());
        for (RunId run : List.of(first, second, third))
            assertThat(executed(carillon.execute(run)).state()).isEqualTo(RunState.SUCCEEDED);

        assertThat(done).containsExactly("first", "second", "third");
    }

    @Test
    void one_of_many_callers_executes_the_run() throws Exception {
        Carillon carillon = client((job, run) -> done.add(job.name()));
        RunId run = carillon.enqueue(JOB, new Job("x")).run();
        ExecutorService callers = Executors.newFixedThreadPool(8);
        try {
            List<Future<ExecuteResult>> calls = IntStream.range(0, 8)
                    .mapToObj(i -> callers.submit(() -> carillon.execute(run)))
                    .toList();
            int executed = 0;
            for (Future<ExecuteResult> call : calls) if (call.get() instanceof Executed) executed++;
            assertThat(executed).isOne();
        } finally {
            callers.shutdownNow();
        }
        assertThat(done).hasSize(1);
    }

    @Test
    void a_run_whose_caller_disappeared_is_executed_again_after_its_lease() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch frozen = new CountDownLatch(1);
        Carillon lost = client((job, run) -> {
            started.countDown();
            frozen.await();
        });
        Carillon carillon = client((job, run) -> done.add("attempt " + run.attempt()));
        RunId run = carillon.enqueue(JOB, new Job("x")).run();
        ExecutorService caller = Executors.newSingleThreadExecutor();
        try {
            Future<ExecuteResult> first = caller.submit(() -> lost.execute(run));
            started.await();
            assertThat(carillon.execute(run)).isEqualTo(new Running(1));
            fixture.database().execute("UPDATE carillon.run SET leased_until = carillon.clock() - interval '1 s'");

            assertThat(executed(carillon.execute(run)).attempt()).isEqualTo(2);

            frozen.countDown();
            assertThat(((Executed) first.get()).failed()).isTrue();
        } finally {
            caller.shutdownNow();
        }
        assertThat(done).containsExactly("attempt 2");
        assertThat(carillon.runs().get(run).orElseThrow().failures()).isZero();
    }

    @Test
    void a_process_without_the_handler_refuses_and_leaves_the_run_as_it_is() {
        Carillon carillon = fixture.client(builder -> builder);
        RunId run = carillon.enqueue(JOB, new Job("x")).run();
        Map<String, String> before = fixture.tableDigests();

        CarillonException refused = catchThrowableOfType(CarillonException.class, () -> carillon.execute(run));

        assertThat(refused.code()).isEqualTo(ErrorCode.UNKNOWN_HANDLER);
        assertThat(refused).hasMessageContaining("job").hasMessageContaining("in a process that has the handler");
        assertThat(fixture.tableDigests()).isEqualTo(before);
    }

    @Test
    void a_workflow_goes_on_to_its_next_wait_with_each_call() {
        Carillon carillon = fixture.client(builder -> builder.workflow(ORDER, (job, flow) -> {
            flow.run(CHARGE, step -> "charged " + done.add("charge"));
            flow.sleep("cooling-off", Duration.ofDays(3));
            return flow.await(APPROVAL, Duration.ofDays(7)).orElse("none");
        }));
        RunId order = carillon.start(ORDER, new Job("x"), Start.id("order-1")).run();

        Run asleep = executed(carillon.execute(order));
        assertThat(asleep.instants().readyAt()).isEqualTo(clock.now().plus(Duration.ofDays(3)));
        assertThat(carillon.execute(order))
                .isEqualTo(new NotDue(asleep.instants().readyAt()));
        clock.advance(Duration.ofDays(3));
        Run awaiting = executed(carillon.execute(order));
        assertThat(awaiting.instants().readyAt()).isEqualTo(clock.now().plus(Duration.ofDays(7)));
        carillon.workflow(order).signal(APPROVAL, "ann");

        Run ended = executed(carillon.execute(order));

        assertThat(ended.state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(carillon.workflow(order).result(String.class)).contains("ann");
        assertThat(done).containsExactly("charge");
    }

    private Carillon client(Handler<Job> handler) {
        return fixture.client(builder -> builder.handle(
                JOB, handler, HandlerOptions.defaults().retry(Retry.exponential(Duration.ofMinutes(1)))));
    }

    private static Run executed(ExecuteResult result) {
        assertThat(result).isInstanceOf(Executed.class);
        return ((Executed) result).run();
    }

    private static String notReady(ExecuteResult result) {
        assertThat(result).isInstanceOf(NotReady.class);
        return ((NotReady) result).reason();
    }

    private static RunState state(Carillon carillon, RunId run) {
        return carillon.runs().get(run).orElseThrow().state();
    }
}
