package io.carillon.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import io.carillon.event.EventType;
import io.carillon.event.Subscribe;
import io.carillon.event.Topic;
import io.carillon.spi.EventRelay;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What users set for relays and sources, and what is refused. */
class KafkaOptionsTest {
    private static final Map<String, Object> CONFIG =
            Map.of("bootstrap.servers", "localhost:1", "sasl.jaas.config", "password=\"secret\"");
    private static final Topic ORDERS = Topic.named("orders");
    private static final EventType<String> PAID = ORDERS.event("paid", String.class);

    @Test
    void a_relay_has_the_name_of_its_topic_and_blocks_keys() {
        KafkaRelay relay = KafkaRelay.to(CONFIG).topic(ORDERS);

        assertThat(relay.name()).isEqualTo("orders");
        assertThat(relay.destination()).isEqualTo("kafka:orders");
        assertThat(relay.rejection()).isEqualTo(EventRelay.Rejection.BLOCK_KEY);
        assertThat(relay.start()).isEqualTo(new Subscribe.Start.Now());
    }

    @Test
    void each_option_of_a_relay_keeps_the_others() {
        KafkaRelay relay = KafkaRelay.to(CONFIG)
                .topic(ORDERS, "Orders.v1")
                .from(Instant.EPOCH)
                .onRejection(EventRelay.Rejection.CONTINUE_KEY)
                .source("/shop")
                .named("to-kafka");

        assertThat(relay.name()).isEqualTo("to-kafka");
        assertThat(relay.destination()).isEqualTo("kafka:Orders.v1");
        assertThat(relay.rejection()).isEqualTo(EventRelay.Rejection.CONTINUE_KEY);
        assertThat(relay.start()).isEqualTo(new Subscribe.Start.At(Instant.EPOCH));
    }

    @Test
    void the_text_of_a_relay_or_source_contains_no_setting() {
        assertThat(KafkaRelay.to(CONFIG).topic(ORDERS).toString())
                .isEqualTo("KafkaRelay[orders, orders to kafka:orders]");
        assertThat(KafkaSource.from(CONFIG)
                        .topic("Bank", record -> PAID.of("x"))
                        .toString())
                .isEqualTo("KafkaSource[bank from kafka:Bank]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"transactional.id", "acks", "enable.idempotence", "key.serializer", "group.id"})
    void settings_that_a_relay_needs_are_refused(String setting) {
        assertThatThrownBy(() -> KafkaRelay.to(Map.of("bootstrap.servers", "a:1", setting, "x")))
                .isInstanceOf(CarillonException.class)
                .hasMessageContaining("'" + setting + "' must not be set for a relay");
    }

    @Test
    void a_missing_address_is_refused() {
        assertThatThrownBy(() -> KafkaRelay.to(Map.of())).hasMessageContaining("'bootstrap.servers' is missing");
        assertThatThrownBy(() -> KafkaSource.from(Map.of("bootstrap.servers", " ")))
                .hasMessageContaining("'bootstrap.servers' is missing for a source");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "..", "a b", "a/b", "ä"})
    void names_that_no_kafka_topic_can_have_are_refused(String topic) {
        assertThatThrownBy(() -> KafkaRelay.to(CONFIG).topic(ORDERS, topic))
                .hasMessageContaining("The Kafka topic '" + topic + "' is not valid");
        assertThatThrownBy(() -> KafkaSource.from(CONFIG).topic(topic, record -> PAID.of("x")))
                .hasMessageContaining("is not valid");
    }
}
