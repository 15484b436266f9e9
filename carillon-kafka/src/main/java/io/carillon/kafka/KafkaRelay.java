package io.carillon.kafka;

import static java.util.Objects.requireNonNull;

import io.carillon.event.Subscribe;
import io.carillon.event.Topic;
import io.carillon.internal.value.Names;
import io.carillon.spi.EventRelay;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * Sends the events of a topic to a Kafka topic, in the order of all consumers, as CloudEvents 1.0 in binary mode. The
 * Kafka key is the key of the event. For consumers with {@code isolation.level=read_committed}, each event appears
 * once. Immutable: each method returns a changed copy.
 *
 * <pre>{@code
 * Carillon.on(dataSource)
 *     .relay(KafkaRelay.to(Map.of("bootstrap.servers", "kafka:9092")).topic(ORDERS))
 *     .start();
 * }</pre>
 */
public final class KafkaRelay implements EventRelay {
    private static final Set<String> RESERVED = Set.of(
            ProducerConfig.TRANSACTIONAL_ID_CONFIG,
            ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
            ProducerConfig.ACKS_CONFIG,
            ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
            ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG,
            "isolation.level",
            "group.id");

    /** A Kafka cluster. {@link #topic(Topic)} returns a relay to it. */
    public static final class Cluster {
        private final Map<String, Object> config;

        private Cluster(Map<String, Object> config) {
            this.config = config;
        }

        /** Returns a relay of the events of a topic to the Kafka topic with the same name. */
        public KafkaRelay topic(Topic topic) {
            return topic(topic, topic.name());
        }

        /** Returns a relay of the events of a topic to a Kafka topic. */
        public KafkaRelay topic(Topic topic, String kafkaTopic) {
            return new KafkaRelay(
                    config,
                    topic,
                    KafkaConfig.checkTopic(kafkaTopic),
                    new Options(topic.name(), Rejection.BLOCK_KEY, ""));
        }
    }

    private record Options(String name, Rejection rejection, String source, Subscribe.Start start) {
        Options(String name, Rejection rejection, String source) {
            this(name, rejection, source, new Subscribe.Start.Now());
        }
    }

    private final Map<String, Object> config;
    private final Topic topic;
    private final String kafkaTopic;
    private final Options options;

    private KafkaRelay(Map<String, Object> config, Topic topic, String kafkaTopic, Options options) {
        this.config = config;
        this.topic = topic;
        this.kafkaTopic = kafkaTopic;
        this.options = options;
    }

    /**
     * Returns a Kafka cluster.
     *
     * @param config settings of a Kafka producer: {@code bootstrap.servers}, and those for security, compression and
     *     times. Carillon sets {@code transactional.id}, {@code enable.idempotence}, {@code acks} and the serializers.
     */
    public static Cluster to(Map<String, ?> config) {
        return new Cluster(Map.copyOf(KafkaConfig.checked("a relay", config, RESERVED)));
    }

    private KafkaRelay with(Options changed) {
        return new KafkaRelay(config, topic, kafkaTopic, changed);
    }

    /**
     * Sets the name. Default: the name of the topic. The transactional id in Kafka is {@code carillon.}, the project, a
     * dot and this name. Relays of different databases to one Kafka cluster must differ in it, or they fence each
     * other.
     */
    public KafkaRelay named(String name) {
        return with(new Options(Names.check("relay", name), options.rejection(), options.source(), options.start()));
    }

    /**
     * Sets what happens to later events of a key when Kafka rejects one of its events, such as a too large one.
     * Default: {@link EventRelay.Rejection#BLOCK_KEY}: they wait until an operator retries or skips the rejected event,
     * see {@link io.carillon.event.Relays}.
     */
    public KafkaRelay onRejection(Rejection rejection) {
        return with(
                new Options(options.name(), requireNonNull(rejection, "rejection"), options.source(), options.start()));
    }

    /**
     * Sets the CloudEvents attribute {@code source}. Default: {@code /carillon/}, the project, a slash and the topic.
     */
    public KafkaRelay source(String uriReference) {
        return with(new Options(
                options.name(), options.rejection(), requireNonNull(uriReference, "uriReference"), options.start()));
    }

    /** Lets a new relay start with the oldest event that is stored. Default: with the events after its creation. */
    public KafkaRelay fromBeginning() {
        return with(
                new Options(options.name(), options.rejection(), options.source(), new Subscribe.Start.Beginning()));
    }

    /** Lets a new relay start with the events that committed from about this instant on. */
    public KafkaRelay from(Instant instant) {
        return with(
                new Options(options.name(), options.rejection(), options.source(), new Subscribe.Start.At(instant)));
    }

    @Override
    public String name() {
        return options.name();
    }

    @Override
    public Topic topic() {
        return topic;
    }

    @Override
    public String destination() {
        return "kafka:" + kafkaTopic;
    }

    @Override
    public Rejection rejection() {
        return options.rejection();
    }

    @Override
    public Subscribe.Start start() {
        return options.start();
    }

    @Override
    public Sender open(String project) {
        String source = options.source().isEmpty() ? "/carillon/" + project + "/" + topic.name() : options.source();
        return KafkaSender.open(
                new HashMap<>(config), "carillon." + project + "." + name(), kafkaTopic, new CloudEventHeaders(source));
    }

    @Override
    public String toString() {
        // The settings contain secrets.
        return "KafkaRelay[" + name() + ", " + topic.name() + " to " + destination() + "]";
    }
}
