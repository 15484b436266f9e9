package io.carillon.it.docs;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofSeconds;

import io.carillon.Carillon;
import io.carillon.run.Enqueue;
import io.carillon.run.Retry;
import io.carillon.run.RunId;
import io.carillon.workflow.RecordedStep;
import io.carillon.workflow.Step;
import io.carillon.workflow.WorkflowType;
import java.util.List;
import javax.sql.DataSource;

/** Every Java line of the page on workflows, compiled. {@link SnippetsTest} compares the page with this file. */
@SuppressWarnings("unused")
final class WorkflowSnippets {
    // spotless:off
record Order(String id, List<String> items) {}
record Payment(String receipt) {}
record Parcel(String item) {}

    interface Bank { Payment charge(Order order, String key); }

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

carillon.enqueue(CHECKOUT.handlerType(), placed, Enqueue.now().uniqueKey("order-4711", ofDays(14)));
}

static void watch(Carillon carillon, RunId id) {
for (RecordedStep step : carillon.runs().steps(id))
    System.out.println(step.name() + " " + step.state() + " " + step.recordedAt());
}
    // spotless:on
}
