package io.carillon.it.docs;

import io.carillon.Carillon;
import io.carillon.event.CloudEventMode;
import io.carillon.event.Event;
import io.carillon.event.EventPattern;
import io.carillon.event.EventType;
import io.carillon.event.PublishResult;
import io.carillon.event.Subscribe;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.event.Topic;
import io.carillon.run.Payload;
import io.carillon.schedule.When;
import java.sql.Connection;
import javax.sql.DataSource;

/** Every Java line of the page on events, compiled. {@link SnippetsTest} compares the page with this file. */
@SuppressWarnings("unused")
final class EventSnippets {
    // spotless:off
record OrderPlaced(String order, long amount) {}
static final Topic ORDERS = Topic.named("orders");
static final EventType<OrderPlaced> PLACED = ORDERS.event("order.placed", OrderPlaced.class);

    interface Mailer { void confirm(OrderPlaced placed); }

    interface Audit { void write(Event<Payload> event); }

    interface Warehouse { void pick(String order); }

    interface Orders { void insert(Connection connection, OrderPlaced placed); }

    private EventSnippets() {}

static Carillon shop(DataSource dataSource, Mailer mailer, Warehouse warehouse) {
return Carillon.on(dataSource)
    .subscribe("mail", PLACED, (event, run) -> mailer.confirm(event.data()), Subscribe.inOrder())
    .subscribe("pick", PLACED, (event, run) -> warehouse.pick(event.data().order()), Subscribe.inOrder())
    .start();
}

static void store(Carillon carillon, Orders orders, Connection connection, OrderPlaced placed) {
orders.insert(connection, placed);
carillon.in(connection).publish(PLACED.of(placed).key(placed.order()));
}

static void place(Carillon carillon, Connection connection, OrderPlaced placed) {
carillon.in(connection).publish(PLACED.of(placed).key(placed.order()));
}

static PublishResult publishOnce(Carillon carillon, OrderPlaced placed) {
return carillon.publish(PLACED.of(placed).key(placed.order()).publishId("placed-" + placed.order()));
}

static void publishTraced(Carillon carillon, OrderPlaced placed, String trace) {
carillon.publish(PLACED.of(placed).key(placed.order()).header("traceparent", trace).header("tenant", "acme"));
}

static void sendToShop(Carillon carillon) {
SubscriptionTarget shop = new SubscriptionTarget.Endpoint("shop", CloudEventMode.STRUCTURED);
carillon.project("acme").events().subscribe(
    SubscriptionDefinition.of("to-shop", EventPattern.of("orders", "order.*"), shop, Subscribe.inOrder()));
}

static void start(DataSource dataSource, Mailer mailer, Audit audit) {
Carillon carillon = Carillon.on(dataSource)
    .subscribe("send-mail", PLACED, (event, run) -> mailer.confirm(event.data()), Subscribe.inOrder())
    .subscribe("audit", EventPattern.of("*", "order.*"), (event, run) -> audit.write(event), Subscribe.inAnyOrder())
    .start();
}

static void nightly(DataSource dataSource, OrderPlaced standing) {
Carillon carillon = Carillon.on(dataSource)
    .schedule("standing-order", When.cron("0 2 * * *", "Europe/Paris"), PLACED.of(standing).key(standing.order()))
    .start();
}

static final EventType<OrderPlaced> RENAMED = ORDERS.event("order.accepted", OrderPlaced.class)
    .accepting("order.placed", json -> new OrderPlaced(json, 0));

static final Topic STOCK = Topic.named("stock").withVersions();
static final EventType<Integer> COUNTED = STOCK.event("stock.counted", Integer.class);
static String count(Carillon carillon, int pieces) {
PublishResult result = carillon.publish(COUNTED.of(pieces).key("bolt-m8").expectedVersion(4));
if (result instanceof PublishResult.VersionConflict conflict) return "changed meanwhile: version " + conflict.actual();
return "stored";
}
    // spotless:on
}
