package io.carillon.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.carillon.event.NewEvent;
import io.carillon.internal.value.EventHeaders;
import io.carillon.internal.value.Names;
import io.carillon.spi.EventSource;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/**
 * Publishes the records of a Kafka topic as events. The offset is stored in the transaction that publishes the events,
 * so each record is published once, whatever fails. The nodes that have the source share its partitions as a consumer
 * group. Immutable: each method returns a changed copy.
 *
 * <pre>{@code
 * Carillon.on(dataSource)
 *     .source(KafkaSource.from(Map.of("bootstrap.servers", "kafka:9092"))
 *         .topic("payments", record -> PAID.of(read(record.value())).key(text(record.key()))))
 *     .start();
 * }</pre>
 */
public final class KafkaSource implements EventSource {
    private static final Set<String> RESERVED = Set.of(
            ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
            ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
            ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG,
            ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG);

    /** A Kafka cluster. {@link #topic} returns a source from it. */
    public static final class Cluster {
        private final Map<String, Object> config;

        private Cluster(Map<String, Object> config) {
            this.config = config;
        }

        /**
         * Returns a source of a Kafka topic. The function converts a record to an event; it must only depend on the
         * record. If it throws, the record blocks its partition, or is kept.
         */
        public KafkaSource topic(
                String kafkaTopic, Function<ConsumerRecord<byte[], byte[]>, ? extends NewEvent<?>> toEvent) {
            KafkaConfig.checkTopic(kafkaTopic);
            return new KafkaSource(
                    config,
                    new Options(
                            defaultName(kafkaTopic),
                            kafkaTopic,
                            requireNonNull(toEvent, "toEvent"),
                            record -> true,
                            List.of(),
                            false,
                            false));
        }
    }

    /** What a user sets; {@code keepsUnpublished} and {@code fromEnd} are explained at the methods that set them. */
    record Options(
            String name,
            String topic,
            Function<ConsumerRecord<byte[], byte[]>, ? extends NewEvent<?>> toEvent,
            Predicate<ConsumerRecord<byte[], byte[]>> filter,
            List<String> copiedHeaders,
            boolean keepsUnpublished,
            boolean fromEnd) {
        Options {
            copiedHeaders = List.copyOf(copiedHeaders);
        }

        /** Returns the event of a record, with the headers that are copied. */
        NewEvent<?> event(ConsumerRecord<byte[], byte[]> record) {
            NewEvent<?> event = requireNonNull(toEvent.apply(record), "the function returned null");
            if (copiedHeaders.isEmpty()) return event;
            Map<String, String> headers = new HashMap<>();
            for (Header header : record.headers()) {
                String name = header.key().toLowerCase(Locale.ROOT);
                if (copiedHeaders.contains(name) && header.value() != null)
                    headers.put(name, new String(header.value(), UTF_8));
            }
            headers.putAll(event.headers());
            return event.headers(headers);
        }
    }

    private final Map<String, Object> config;
    private final Options options;

    private KafkaSource(Map<String, Object> config, Options options) {
        this.config = config;
        this.options = options;
    }

    /**
     * Returns a Kafka cluster.
     *
     * @param config settings of a Kafka consumer: {@code bootstrap.servers}, and those for security, sizes and times.
     *     Default of {@code group.id}: {@code carillon.}, the project, a dot and the name of the source. Default of
     *     {@code isolation.level}: {@code read_committed}.
     */
    public static Cluster from(Map<String, ?> config) {
        return new Cluster(Map.copyOf(KafkaConfig.checked("a source", config, RESERVED)));
    }

    /** Kafka allows capitals. */
    private static String defaultName(String kafkaTopic) {
        String name = kafkaTopic.toLowerCase(Locale.ROOT);
        return name.length() > 100 ? name.substring(0, 100) : name;
    }

    /** Sets the name, under which the offsets are stored. Default: the name of the Kafka topic in lower case. */
    public KafkaSource named(String name) {
        return new KafkaSource(
                config,
                new Options(
                        Names.check("source", name),
                        options.topic(),
                        options.toEvent(),
                        options.filter(),
                        options.copiedHeaders(),
                        options.keepsUnpublished(),
                        options.fromEnd()));
    }

    /** Passes records that do not match without an event. */
    public KafkaSource filter(Predicate<ConsumerRecord<byte[], byte[]>> filter) {
        return new KafkaSource(
                config,
                new Options(
                        options.name(),
                        options.topic(),
                        options.toEvent(),
                        options.filter().and(filter),
                        options.copiedHeaders(),
                        options.keepsUnpublished(),
                        options.fromEnd()));
    }

    /**
     * Copies these headers of each record to its event, if the record has them. Names of Kafka are compared without
     * regard to case; of several headers with one name, the last one is copied. A header that the function sets
     * itself stays. A record whose header has a value that no event may have cannot be published.
     */
    public KafkaSource copyHeaders(String... names) {
        List<String> all = Stream.concat(options.copiedHeaders().stream(), Stream.of(names))
                .map(EventHeaders::checkName)
                .distinct()
                .toList();
        return new KafkaSource(
                config,
                new Options(
                        options.name(),
                        options.topic(),
                        options.toEvent(),
                        options.filter(),
                        all,
                        options.keepsUnpublished(),
                        options.fromEnd()));
    }

    /**
     * Keeps a record that cannot be published, see {@link io.carillon.event.EventSources#unpublished}, and continues.
     * Default: it blocks its partition until it can be published or an operator skips it.
     */
    public KafkaSource keepUnpublished() {
        return new KafkaSource(
                config,
                new Options(
                        options.name(),
                        options.topic(),
                        options.toEvent(),
                        options.filter(),
                        options.copiedHeaders(),
                        true,
                        options.fromEnd()));
    }

    /** Lets a partition that is not known yet start behind its last record. Default: with the oldest record. */
    public KafkaSource fromEnd() {
        return new KafkaSource(
                config,
                new Options(
                        options.name(),
                        options.topic(),
                        options.toEvent(),
                        options.filter(),
                        options.copiedHeaders(),
                        options.keepsUnpublished(),
                        true));
    }

    @Override
    public String name() {
        return options.name();
    }

    @Override
    public Reader open(String project, Positions positions) {
        Map<String, Object> consumerConfig = new HashMap<>(config);
        String group = "carillon." + project + "." + name();
        consumerConfig.putIfAbsent(ConsumerConfig.GROUP_ID_CONFIG, group);
        consumerConfig.putIfAbsent(ConsumerConfig.CLIENT_ID_CONFIG, group);
        consumerConfig.putIfAbsent(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        consumerConfig.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        consumerConfig.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        return new KafkaReader(consumerConfig, options, positions);
    }

    @Override
    public String toString() {
        // The settings contain secrets.
        return "KafkaSource[" + name() + " from kafka:" + options.topic() + "]";
    }
}
