package io.carillon.it.workflow;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.HandlerOptions;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.AttemptRecord;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Origin;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import io.carillon.workflow.Send;
import io.carillon.workflow.SendResult;
import io.carillon.workflow.Signal;
import io.carillon.workflow.Start;
import io.carillon.workflow.StartResult;
import io.carillon.workflow.Step;
import io.carillon.workflow.StepFailedException;
import io.carillon.workflow.Workflow;
import io.carillon.workflow.WorkflowHandle;
import io.carillon.workflow.WorkflowType;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Ids of workflows, and signals to them, as an application uses them. Time stands still unless a test moves it. */
@CarillonTest
class SignalTest {
    record Order(String id) {}

    record Approval(String by) {}

    private static final Instant NOON = Instant.parse("2026-03-02T12:00:00Z");
    private static final Duration BUDGET = Duration.ofSeconds(30);
    private static final Duration WEEK = Duration.ofDays(7);
    private static final WorkflowType<Order> CHECKOUT = WorkflowType.of("checkout", Order.class);
    private static final Signal<Approval> APPROVAL = Signal.of("approval", Approval.class);
    private static final Order ORDER = new Order("4711");
    private static final Start START = Start.id("order-4711");
    private final ApiFixture fixture;
    private final List<String> seen = new CopyOnWriteArrayList<>();

    SignalTest(TestDatabase database) {
        fixture = new ApiFixture(database);
        database.clock().stopAt(NOON);
    }

    @AfterEach
    void close() {
        fixture.close();
        fixture.database().clock().useRealTime();
    }

    private Carillon client(Workflow<Order, ?> workflow) {
        return fixture.client(builder -> builder.workflow(CHECKOUT, workflow));
    }

    /** A workflow that returns the approver, or "nothing" after a week. */
    private Carillon approved() {
        return client(
                (order, flow) -> flow.await(APPROVAL, WEEK).map(Approval::by).orElse("nothing"));
    }

    private static RunState state(WorkflowHandle workflow) {
        return workflow.get().map(Run::state).orElseThrow();
    }

    @Test
    void a_workflow_is_started_once_with_an_id_and_found_by_it() {
        Carillon client = approved();

        StartResult first =
                client.start(CHECKOUT, ORDER, START.with(Enqueue.now().priority(Priority.HIGH)));
        StartResult second = client.start(CHECKOUT, ORDER, START);

        assertThat(first).isInstanceOf(StartResult.Started.class);
        assertThat(second).isEqualTo(new StartResult.Duplicate(first.run()));
        WorkflowHandle handle = client.workflow(CHECKOUT, "order-4711");
        assertThat(handle.run()).isEqualTo(first.run());
        assertThat(handle.get().orElseThrow().priority()).isEqualTo(Priority.HIGH);
        assertThat(handle.result(String.class)).isEmpty();
        // A sender that knows the name of the signal only.
        handle.signal(
                Signal.of("approval", Payload.class),
                new Payload("{\"by\":\"ann\"}".getBytes(StandardCharsets.UTF_8), "json"));
        client.runDue(BUDGET);
        assertThat(handle.result(String.class)).contains("ann");
        assertThat(client.start(CHECKOUT, ORDER, START)).isEqualTo(new StartResult.Duplicate(first.run()));

        fixture.database().clock().advance(Duration.ofDays(15));
        assertThat(handle.get()).isEmpty();
        assertThat(client.start(CHECKOUT, ORDER, START)).isInstanceOf(StartResult.Started.class);
    }

    @Test
    void a_workflow_that_lives_longer_than_its_id_is_held_keeps_it() {
        Carillon client = client((order, flow) -> {
            flow.sleep("month", Duration.ofDays(30));
            return null;
        });
        RunId run =
                client.start(CHECKOUT, ORDER, START.holdId(Duration.ofHours(1))).run();
        client.runDue(BUDGET);
        fixture.database().clock().advance(Duration.ofDays(20));

        assertThat(client.start(CHECKOUT, ORDER, START)).isEqualTo(new StartResult.Duplicate(run));
        assertThat(client.workflow(CHECKOUT, "order-4711").run()).isEqualTo(run);
    }

    @Test
    void ids_belong_to_a_type_and_a_project() {
        Carillon client = approved();
        client.start(CHECKOUT, ORDER, START);

        assertThat(client.project("other").start(CHECKOUT, ORDER, START)).isInstanceOf(StartResult.Started.class);
        assertThat(client.start(WorkflowType.of("refund", Order.class), ORDER, START))
                .isInstanceOf(StartResult.Started.class);
    }

    @Test
    void a_start_and_a_signal_commit_with_the_transaction_of_the_caller() throws Exception {
        Carillon client = approved();
        for (boolean commit : List.of(false, true))
            try (Connection connection = fixture.database().dataSource().getConnection()) {
                connection.setAutoCommit(false);
                client.in(connection).start(CHECKOUT, ORDER, START);
                client.in(connection).workflow(CHECKOUT, "order-4711").signal(APPROVAL, new Approval("ann"));
                if (commit) connection.commit();
                else connection.rollback();
                connection.setAutoCommit(true);
                client.runDue(BUDGET);
                assertThat(client.workflow(CHECKOUT, "order-4711").get().isPresent())
                        .isEqualTo(commit);
            }
        assertThat(client.workflow(CHECKOUT, "order-4711").result(String.class)).contains("ann");
    }

    @Test
    void a_start_sends_a_signal_to_the_workflow_that_it_starts_or_that_has_the_id() {
        Carillon client = client((order, flow) -> {
            String first = flow.await(APPROVAL, WEEK).orElseThrow().by();
            return first + " and " + flow.await(APPROVAL, WEEK).orElseThrow().by();
        });
        StartResult first =
                client.start(CHECKOUT, ORDER, START.signal(APPROVAL, new Approval("ann"), Send.id("mail-1")));
        client.runDue(BUDGET);

        Start again = START.signal(APPROVAL, new Approval("bob"), Send.id("mail-1"));
        assertThat(client.start(CHECKOUT, ORDER, again)).isEqualTo(new StartResult.Duplicate(first.run()));
        client.start(CHECKOUT, ORDER, START.signal(APPROVAL, new Approval("cid")));
        client.runDue(BUDGET);

        assertThat(client.workflow(CHECKOUT, "order-4711").result(String.class)).contains("ann and cid");
        assertThat(refused(() -> client.start(CHECKOUT, ORDER, START.signal(APPROVAL, new Approval("dan")))))
                .isEqualTo(ErrorCode.UNKNOWN_RUN);
    }

    @Test
    void a_start_whose_signal_is_refused_starts_nothing() throws Exception {
        HandlerType<Order> bake = HandlerType.of("bake", Order.class);
        Carillon node = fixture.node(builder -> builder.handle(bake, (order, run) -> {}));
        WorkflowType<Order> noWorkflow = WorkflowType.of("bake", Order.class);
        Start start = START.signal(APPROVAL, new Approval("ann"));

        assertThat(refused(() -> node.start(noWorkflow, ORDER, start))).isEqualTo(ErrorCode.RUN_NOT_WORKFLOW);

        assertThat(node.workflow(noWorkflow, "order-4711").get()).isEmpty();
        assertThat(refused(() -> node.start(
                        CHECKOUT, ORDER, START.signal(Signal.of("approval", String.class), "x".repeat(300_000)))))
                .isEqualTo(ErrorCode.PAYLOAD_TOO_LARGE);
        try (Connection connection = fixture.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);
            node.in(connection).start(CHECKOUT, ORDER, start);
            connection.rollback();
        }
        assertThat(node.workflow(CHECKOUT, "order-4711").get()).isEmpty();
    }

    @Test
    void a_workflow_waits_for_a_signal_without_an_attempt_and_its_time_limit_does_not_move() {
        Carillon client = approved();
        WorkflowHandle handle =
                client.workflow(client.start(CHECKOUT, ORDER, START).run());
        client.runDue(BUDGET);
        fixture.database().clock().advance(WEEK.minusMillis(1));
        client.runDue(BUDGET);
        assertThat(state(handle)).isEqualTo(RunState.WAITING);
        assertThat(handle.get().orElseThrow().attempt()).isEqualTo(1);

        fixture.database().clock().advance(Duration.ofMillis(1));
        client.runDue(BUDGET);

        assertThat(handle.result(String.class)).contains("nothing");
    }

    @Test
    void signals_are_kept_until_they_are_awaited_and_each_is_received_once() {
        Carillon client = client((order, flow) -> {
            flow.sleep("first", Duration.ofHours(1));
            for (int i = 0; i < 3; i++)
                seen.add(flow.await(APPROVAL, WEEK).map(Approval::by).orElse("nothing"));
            return null;
        });
        RunId run = client.start(CHECKOUT, ORDER, START).run();
        WorkflowHandle handle = client.workflow(run);

        assertThat(handle.signal(APPROVAL, new Approval("ann"), Send.id("mail-77")))
                .isEqualTo(new SendResult.Sent());
        assertThat(handle.signal(APPROVAL, new Approval("bob"), Send.id("mail-77")))
                .isEqualTo(new SendResult.Duplicate());
        client.runDue(BUDGET);
        assertThat(seen).isEmpty();
        fixture.database().clock().advance(Duration.ofHours(1));
        client.runDue(BUDGET);
        assertThat(seen).containsExactly("ann");
        handle.signal(APPROVAL, new Approval("bob"), Send.id("mail-77"));
        handle.signal(APPROVAL, new Approval("cid"), Send.id("mail-78"));
        client.runDue(BUDGET);
        assertThat(seen).containsExactly("ann", "ann", "cid");
        fixture.database().clock().advance(WEEK);
        client.runDue(BUDGET);

        assertThat(seen).containsExactly("ann", "ann", "cid", "ann", "cid", "nothing");
        // The first attempt says when the workflow started. Later waits leave no attempt.
        assertThat(client.runs().attempts(run))
                .extracting(AttemptRecord::attempt)
                .containsExactly(1);
        assertThat(state(handle)).isEqualTo(RunState.SUCCEEDED);
    }

    @Test
    void a_late_signal_does_not_change_a_time_out() {
        Carillon client = client((order, flow) -> {
            Optional<Approval> first = flow.await(APPROVAL, WEEK);
            flow.sleep("later", WEEK);
            return first.map(Approval::by).orElse("nothing")
                    + flow.await(APPROVAL, WEEK).map(Approval::by).orElse("nothing");
        });
        WorkflowHandle handle =
                client.workflow(client.start(CHECKOUT, ORDER, START).run());
        client.runDue(BUDGET);
        fixture.database().clock().advance(WEEK);
        client.runDue(BUDGET);
        handle.signal(APPROVAL, new Approval("ann"));
        fixture.database().clock().advance(WEEK);

        client.runDue(BUDGET);

        assertThat(handle.result(String.class)).contains("nothingann");
    }

    @Test
    void a_signal_that_cannot_be_received_is_refused() {
        Carillon client = approved();
        WorkflowHandle unknown = client.workflow(CHECKOUT, "order-1");
        assertThat(refused(() -> unknown.signal(APPROVAL, new Approval("ann")))).isEqualTo(ErrorCode.UNKNOWN_RUN);
        RunId run = client.start(CHECKOUT, ORDER, START).run();
        client.workflow(run).signal(APPROVAL, new Approval("ann"));
        client.runDue(BUDGET);

        assertThat(refused(() -> client.workflow(run).signal(APPROVAL, new Approval("ann"))))
                .isEqualTo(ErrorCode.UNKNOWN_RUN);
        assertThat(refused(() -> client.workflow(RunId.generate()).signal(APPROVAL, new Approval("ann"))))
                .isEqualTo(ErrorCode.UNKNOWN_RUN);
        assertThat(refused(() -> START.with(Enqueue.now().uniqueKey("x")))).isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(refused(() -> Signal.of("Approval?", String.class))).isEqualTo(ErrorCode.INVALID_NAME);
    }

    @Test
    void a_signal_to_a_run_that_is_no_workflow_or_does_not_take_its_signals_is_refused() {
        HandlerType<String> bake = HandlerType.of("bake", String.class);
        Carillon node = fixture.node(
                builder -> builder.handle(bake, (cake, run) -> {}).workflow(CHECKOUT, (order, flow) -> "done"));
        Enqueue later = Enqueue.after(WEEK);
        RunId plain = node.enqueue(bake, "apple", later).run();
        WorkflowHandle workflow =
                node.workflow(node.start(CHECKOUT, ORDER, START.with(later)).run());
        fixture.database()
                .execute("INSERT INTO carillon.workflow_signal (project, run_id, send_id, id, name, codec, value)"
                        + " SELECT 'default', id, 's' || n, gen_random_uuid(), 'approval', 'json', '1'"
                        + " FROM carillon.run, generate_series(1, 1000) n WHERE target_name = 'checkout'");

        assertThat(refused(() -> node.workflow(plain).signal(APPROVAL, new Approval("ann"))))
                .isEqualTo(ErrorCode.RUN_NOT_WORKFLOW);
        assertThat(refused(() -> workflow.signal(APPROVAL, new Approval("ann"))))
                .isEqualTo(ErrorCode.TOO_MANY_SIGNALS);
    }

    private static ErrorCode refused(ThrowingCallable call) {
        return catchThrowableOfType(CarillonException.class, call).code();
    }

    @Test
    void changed_code_finds_an_await_where_it_asks_for_something_else() {
        Carillon before = approved();
        WorkflowHandle handle =
                before.workflow(before.start(CHECKOUT, ORDER, START).run());
        before.runDue(BUDGET);
        handle.signal(APPROVAL, new Approval("ann"));
        before.close();
        Carillon client = client((order, flow) -> {
            flow.sleep("approval", WEEK);
            return null;
        });

        client.runDue(BUDGET);

        assertThat(client.workflow(CHECKOUT, "order-4711")
                        .get()
                        .orElseThrow()
                        .details()
                        .lastError())
                .contains("position 0 is recorded as await 'approval', but the code asks for sleep 'approval'");
    }

    @Test
    void a_workflow_awaits_runs_that_its_steps_enqueue() {
        HandlerType<String> bake = HandlerType.of("bake", String.class);
        Step<String> enqueue = Step.of("enqueue", String.class);
        List<Carillon> self = new ArrayList<>();
        Carillon client = fixture.client(builder -> builder.handleReturning(
                        bake,
                        (cake, run) -> {
                            if (cake.equals("burnt")) throw new IllegalStateException("too hot");
                            return cake + " cake";
                        },
                        HandlerOptions.defaults().retry(Retry.none()))
                .workflow(CHECKOUT, (order, flow) -> {
                    List<String> cakes = new ArrayList<>();
                    for (String cake : List.of("apple", "burnt")) {
                        String run = flow.run(
                                enqueue.key(cake),
                                step -> self.get(0)
                                        .enqueue(bake, cake, Enqueue.now().uniqueKey(step.idempotencyKey(), WEEK))
                                        .run()
                                        .toString());
                        try {
                            cakes.add(flow.awaitRun(RunId.parse(run), String.class));
                        } catch (StepFailedException failed) {
                            cakes.add(failed.getMessage().replace(run, "it"));
                        }
                    }
                    return String.join(", ", cakes);
                }));
        self.add(client);
        WorkflowHandle handle =
                client.workflow(client.start(CHECKOUT, ORDER, START).run());

        client.runDue(BUDGET);

        assertThat(handle.result(String.class).orElseThrow())
                .startsWith("apple cake, Step 'it' failed: it ended dead: java.lang.IllegalStateException: too hot");
    }

    @Test
    void a_child_shows_its_parent_and_the_parent_its_children() {
        WorkflowType<String> pack = WorkflowType.of("pack", String.class);
        Step<String> start = Step.of("start", String.class);
        List<Carillon> self = new ArrayList<>();
        Carillon client = fixture.client(builder -> builder.workflow(
                        pack, (item, flow) -> flow.run(Step.of("wrap", String.class), step -> item + " wrapped"))
                .workflow(CHECKOUT, (order, flow) -> {
                    for (String item : List.of("apple", "pear")) {
                        Enqueue options = item.equals("pear") ? Enqueue.now().fifoKey("pears") : Enqueue.now();
                        flow.run(
                                start.key(item),
                                step -> self.get(0)
                                        .start(
                                                pack,
                                                item,
                                                Start.id(step.idempotencyKey())
                                                        .with(options)
                                                        .childOf(flow.id()))
                                        .run()
                                        .toString());
                    }
                    flow.sleep("week", WEEK);
                    return null;
                }));
        self.add(client);
        RunId parent = client.start(CHECKOUT, ORDER, START).run();
        client.runDue(BUDGET);

        List<Run> children = client.runs().children(parent);

        assertThat(children)
                .extracting(Run::state, Run::origin, child -> child.details().parent())
                .containsExactly(
                        tuple(RunState.SUCCEEDED, Origin.WORKFLOW, parent),
                        tuple(RunState.SUCCEEDED, Origin.WORKFLOW, parent));
        assertThat(children)
                .extracting(
                        child -> client.runs().result(child.id(), String.class).orElseThrow())
                .containsExactly("apple wrapped", "pear wrapped");
        assertThat(client.runs().children(children.get(0).id())).isEmpty();
        assertThat(client.project("other").runs().children(parent)).isEmpty();
    }

    @Test
    void a_signal_of_another_process_wakes_a_node() {
        fixture.database().clock().useRealTime();
        Carillon node = fixture.node(builder -> builder.workflow(
                CHECKOUT,
                (order, flow) -> flow.await(APPROVAL, WEEK).map(Approval::by).orElse("nothing")));
        Carillon other = fixture.client(builder -> builder);
        for (Carillon sender : List.of(node, other)) {
            List<RunId> runs = new ArrayList<>();
            for (int i = 0; i < 20; i++)
                runs.add(node.enqueue(CHECKOUT.handlerType(), ORDER).run());
            // Some signals come before the await, some while the workflow is parked, some later.
            for (RunId run : runs) sender.workflow(run).signal(APPROVAL, new Approval("ann"));
            for (RunId run : runs) awaitState(node, run, RunState.SUCCEEDED);
        }
    }
}
