package io.carillon.it.docs;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofSeconds;

import io.carillon.Carillon;
import io.carillon.event.EventType;
import io.carillon.event.Subscribe;
import io.carillon.event.Topic;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.schedule.When;
import io.carillon.workflow.Branch;
import io.carillon.workflow.Dag;
import io.carillon.workflow.Flow;
import io.carillon.workflow.RecordedStep;
import io.carillon.workflow.Send;
import io.carillon.workflow.Signal;
import io.carillon.workflow.Start;
import io.carillon.workflow.Step;
import io.carillon.workflow.Workflow;
import io.carillon.workflow.WorkflowHandle;
import io.carillon.workflow.WorkflowType;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;

/** Every Java line of the page on workflows, compiled. {@link SnippetsTest} compares the page with this file. */
@SuppressWarnings("unused")
final class WorkflowSnippets {
    // spotless:off
record Order(String id, List<String> items) {}
record Payment(String receipt) {}
record Parcel(String item) {}

    interface Bank { Payment charge(Order order, String key); void refund(Order order); }

    interface Depot { Parcel pick(String item); }

    private WorkflowSnippets() {}

static final WorkflowType<Order> CHECKOUT = WorkflowType.of("checkout", Order.class);
static final Step<Payment> CHARGE = Step.of("charge", Payment.class).retry(Retry.exponential(ofSeconds(5)).attempts(5));
static final Step<Parcel> PICK = Step.of("pick", Parcel.class);

static void checkout(DataSource dataSource, Bank bank, Depot depot, Order placed) {
Carillon carillon = Carillon.on(dataSource)
        .workflow(CHECKOUT, (order, flow) -> {
            Payment paid = flow.run(CHARGE, step -> bank.charge(order, step.idempotencyKey()));
            for (String item : order.items()) flow.run(PICK.key(item), step -> depot.pick(item));
            flow.sleep("cooling-off", ofDays(3));
            return paid.receipt();
        })
        .start();

carillon.start(CHECKOUT, placed, Start.id("order-4711"));

WorkflowHandle order = carillon.workflow(CHECKOUT, "order-4711");
Optional<Run> run = order.get();
Optional<String> receipt = order.result(String.class);
order.cancel("the customer has changed her mind");
order.signal(APPROVAL, new Approval("ann"), Send.id("mail-77"));
carillon.start(CHECKOUT, placed, Start.id("order-4711").signal(APPROVAL, new Approval("ann"), Send.id("mail-77")));
}

record Approval(String by) {}

static final EventType<Order> PLACED = Topic.named("orders").event("order.placed", Order.class);

static void startByScheduleAndEvent(DataSource dataSource, Order standing) {
Carillon carillon = Carillon.on(dataSource)
        .workflow(CHECKOUT, (order, flow) -> flow.run(PICK, step -> new Parcel(order.id())))
        .schedule("standing-order", When.cron("0 2 * * *", "Europe/Paris"), CHECKOUT.handlerType(), standing)
        .subscribeWorkflow("confirm", PLACED, (event, flow) -> flow.run(PICK, step -> new Parcel(event.data().id())),
                Subscribe.inAnyOrder())
        .start();
}

static final Signal<Approval> APPROVAL = Signal.of("approval", Approval.class);

static final Workflow<Order, String> APPROVED_CHECKOUT = (order, flow) -> {
    Optional<Approval> approval = flow.await(APPROVAL, ofDays(7));
    return approval.isPresent() ? "approved by " + approval.get().by() : "not approved";
};

static final WorkflowType<Payment> REFUND = WorkflowType.of("refund", Payment.class);
static final Step<String> START_REFUND = Step.of("start-refund", String.class);

static String refund(Carillon carillon, Flow flow, Payment paid) {
    String refund = flow.run(START_REFUND, step ->
            carillon.start(REFUND, paid, Start.id(step.idempotencyKey())).run().toString());
    return flow.awaitRun(RunId.parse(refund), String.class);
}

static String startRefund(Carillon carillon, Flow flow, Payment paid) {
    return flow.run(START_REFUND, step -> carillon.start(
                    REFUND, paid, Start.id(step.idempotencyKey()).childOf(flow.id()))
            .run()
            .toString());
}

static List<Parcel> pick(Order order, Flow flow, Depot depot) {
    return flow.each(PICK, order.items(), item -> item, (item, step) -> depot.pick(item));
}

static List<Object> prepare(Order order, Flow flow, Bank bank, Depot depot) {
    return flow.parallel("prepare", List.of(
            Branch.of(CHARGE, step -> bank.charge(order, step.idempotencyKey())),
            Branch.of(PICK, step -> depot.pick("box"))));
}

    interface Warehouse {
        int extract();

        Map<String, Object> cleanUp();

        Map<String, Object> load(Object rows);

        Map<String, Object> alarm();

        Map<String, Object> report(Map<String, Object> context);
    }

static Dag nightly(Warehouse warehouse) {
    return Dag.named("nightly")
            .task("extract", (context, step) -> Map.of("rows", warehouse.extract()))
            .task("clean-up", (context, step) -> warehouse.cleanUp())
            .task("load", Dag.after("extract").retry(Retry.exponential(ofSeconds(30)).attempts(5)),
                    (context, step) -> warehouse.load(context.get("rows")))
            .task("alarm", Dag.after("extract").when(context -> context.get("rows").equals(0)),
                    (context, step) -> warehouse.alarm())
            .task("report", Dag.after("load", "alarm"), (context, step) -> warehouse.report(context));
}

static void schedule(DataSource dataSource, Dag nightly) {
Carillon carillon;
carillon = Carillon.on(dataSource).workflow(nightly.type(), nightly).start();
carillon.schedules()
        .upsert("nightly", When.cron("0 2 * * *", "UTC"), nightly.type().handlerType(), Map.of("region", "north"));
}

static final Step<String> BOOK = Step.of("book", String.class);

interface Books { String post(Connection connection, Order order); }

static String book(Order order, Flow flow, Books books) {
    return flow.runInTransaction(BOOK, (connection, step) -> books.post(connection, order));
}

static Workflow<Order, String> refundable(Bank bank, Depot depot) {
    return (order, flow) -> {
        Payment paid = flow.run(
                CHARGE,
                step -> bank.charge(order, step.idempotencyKey()),
                (result, step) -> bank.refund(order));
        for (String item : order.items()) flow.run(PICK.key(item), step -> depot.pick(item));
        return paid.receipt();
    };
}

static void versioned(Flow flow, Depot depot) {
if (flow.version("pick-first", 0, 1) == 1) flow.run(PICK, step -> depot.pick("first"));
}

static void watch(Carillon carillon, RunId id) {
carillon.runs().retry(id);

for (RecordedStep step : carillon.runs().steps(id))
    System.out.println(step.name() + " " + step.state() + " " + step.recordedAt());
}
    // spotless:on
}
