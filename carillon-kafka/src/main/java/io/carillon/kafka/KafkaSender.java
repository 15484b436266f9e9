package io.carillon.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.carillon.event.Event;
import io.carillon.run.Payload;
import io.carillon.spi.EventRelay;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * A transactional producer. The mark of a batch is the metadata of a committed offset of a consumer group that has the
 * name of the producer and no members; the transaction contains it together with the records.
 */
final class KafkaSender implements EventRelay.Sender {
    /** Settings for producers that a consumer does not know. It would only warn, but at each start. */
    private static final Set<String> CONSUMER_SETTINGS = ConsumerConfig.configNames();

    private final KafkaProducer<byte[], byte[]> producer;
    private final String topic;
    private final CloudEventHeaders headers;
    private final ConsumerGroupMetadata group;
    private final Optional<String> lastMark;

    private KafkaSender(
            KafkaProducer<byte[], byte[]> producer,
            String topic,
            CloudEventHeaders headers,
            ConsumerGroupMetadata group,
            Optional<String> lastMark) {
        this.producer = producer;
        this.topic = topic;
        this.headers = headers;
        this.group = group;
        this.lastMark = lastMark;
    }

    /** Opens a producer, which fences all earlier ones with this id and ends their transaction, and reads the mark. */
    static KafkaSender open(Map<String, Object> config, String id, String topic, CloudEventHeaders headers) {
        Map<String, Object> producerConfig = new HashMap<>(config);
        // Shorter than the defaults of Kafka: the relay repeats what fails, and shows that it fails.
        producerConfig.putIfAbsent(ProducerConfig.MAX_BLOCK_MS_CONFIG, 10_000);
        producerConfig.putIfAbsent(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 10_000);
        producerConfig.putIfAbsent(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 30_000);
        producerConfig.putIfAbsent(ProducerConfig.CLIENT_ID_CONFIG, id);
        producerConfig.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, id);
        producerConfig.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        producerConfig.put(ProducerConfig.ACKS_CONFIG, "all");
        KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(producerConfig, new ByteArraySerializer(), new ByteArraySerializer());
        try {
            producer.initTransactions();
            return readMark(config, id, topic, new Opened(producer, headers));
        } catch (RuntimeException | Error failure) {
            producer.close(Duration.ZERO);
            throw failure;
        }
    }

    private record Opened(KafkaProducer<byte[], byte[]> producer, CloudEventHeaders headers) {}

    private static KafkaSender readMark(Map<String, Object> config, String id, String topic, Opened opened) {
        Map<String, Object> consumerConfig = new HashMap<>(config);
        consumerConfig.keySet().retainAll(CONSUMER_SETTINGS);
        consumerConfig.put(ConsumerConfig.GROUP_ID_CONFIG, id);
        consumerConfig.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        consumerConfig.putIfAbsent(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, 10_000);
        consumerConfig.put(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG, 10_000);
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(consumerConfig, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            TopicPartition first = new TopicPartition(topic, 0);
            OffsetAndMetadata committed = consumer.committed(Set.of(first)).get(first);
            return new KafkaSender(
                    opened.producer(),
                    topic,
                    opened.headers(),
                    consumer.groupMetadata(),
                    Optional.ofNullable(committed).map(OffsetAndMetadata::metadata));
        }
    }

    @Override
    public Optional<String> lastMark() {
        return lastMark;
    }

    @Override
    public void send(EventRelay.Batch batch) throws EventRelay.EventRejectedException {
        List<Future<RecordMetadata>> answers = new ArrayList<>();
        producer.beginTransaction();
        try {
            for (Event<Payload> event : batch.events()) answers.add(producer.send(record(event)));
            producer.sendOffsetsToTransaction(
                    Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(0, batch.mark())), group);
            producer.commitTransaction();
        } catch (KafkaException failure) {
            EventRelay.EventRejectedException rejected = firstRejected(answers);
            if (rejected == null) throw failure;
            producer.abortTransaction();
            throw rejected;
        }
    }

    private ProducerRecord<byte[], byte[]> record(Event<Payload> event) {
        String key = event.key();
        return new ProducerRecord<>(
                topic,
                null,
                event.publishedAt().toEpochMilli(),
                key == null ? null : key.getBytes(UTF_8),
                event.data().bytes(),
                headers.of(event));
    }

    private static EventRelay.@Nullable EventRejectedException firstRejected(List<Future<RecordMetadata>> answers) {
        for (int i = 0; i < answers.size(); i++) {
            if (!answers.get(i).isDone()) continue;
            try {
                answers.get(i).get();
            } catch (ExecutionException failed) {
                Throwable cause = requireNonNull(failed.getCause());
                if (isPermanent(cause))
                    return new EventRelay.EventRejectedException(i, String.valueOf(cause.getMessage()));
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                return null;
            }
        }
        return null;
    }

    private static boolean isPermanent(Throwable cause) {
        return cause instanceof RecordTooLargeException
                || cause instanceof RecordBatchTooLargeException
                || cause instanceof InvalidRecordException
                || cause instanceof InvalidTimestampException;
    }

    @Override
    public void close() {
        // Does not wait: a transaction that is open is ended by the next producer with this id.
        producer.close(Duration.ZERO);
    }
}
