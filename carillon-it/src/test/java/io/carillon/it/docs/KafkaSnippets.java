package io.carillon.it.docs;

import io.carillon.Carillon;
import io.carillon.event.EventType;
import io.carillon.event.Relay;
import io.carillon.event.Relays;
import io.carillon.event.Topic;
import io.carillon.kafka.KafkaRelay;
import io.carillon.kafka.KafkaSource;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import javax.sql.DataSource;

/** Every Java line of the page on Kafka, compiled. {@link SnippetsTest} compares the page with this file. */
@SuppressWarnings("unused")
final class KafkaSnippets {
    // spotless:off
record OrderPlaced(String order, long amount) {}
static final Topic ORDERS = Topic.named("orders");
static final EventType<OrderPlaced> PLACED = ORDERS.event("order.placed", OrderPlaced.class);

    private KafkaSnippets() {}

static Carillon relay(DataSource dataSource) {
return Carillon.on(dataSource)
    .relay(KafkaRelay.to(Map.of("bootstrap.servers", "kafka:9092")).topic(ORDERS))
    .start();
}

static void decide(Carillon carillon) {
Relays relays = carillon.events().relays();
for (Relay.Rejected rejected : relays.rejected("orders", 100)) {
    if (rejected.blocksKey()) relays.retry("orders", rejected.event());    // after the limit of the topic was raised
    else relays.skip("orders", rejected.event());                          // never send it
}
}

static final EventType<String> PAID = Topic.named("payments").event("payment.received", String.class);
static Carillon source(DataSource dataSource) {
return Carillon.on(dataSource)
    .source(KafkaSource.from(Map.of("bootstrap.servers", "kafka:9092"))
        .topic("bank-payments", record -> PAID.of(text(record.value())).key(text(record.key()))))
    .start();
}
static String text(byte[] bytes) {
return new String(bytes, StandardCharsets.UTF_8);
}
    // spotless:on
}
