package io.carillon.kafka;

import static java.util.Objects.requireNonNull;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.event.NewEvent;
import io.carillon.spi.EventSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the partitions that Kafka assigns to this node. Offsets come from the database only. They are also committed to
 * Kafka, where tools show the lag, but never read from there.
 */
final class KafkaReader implements EventSource.Reader, ConsumerRebalanceListener {
    private static final Logger log = LoggerFactory.getLogger(KafkaReader.class);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);
    /** A blocked partition is tried again after this time. */
    private static final long RETRY_NANOS = Duration.ofSeconds(2).toNanos();

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final KafkaSource.Options options;
    private final EventSource.Positions positions;
    /** The stored position of each assigned partition. */
    private final Map<TopicPartition, Long> stored = new HashMap<>();
    /** Blocked partitions, and when they are tried again. */
    private final Map<TopicPartition, Long> blocked = new HashMap<>();
    /** The record of each partition that the log names already. */
    private final Map<TopicPartition, Long> reported = new HashMap<>();

    KafkaReader(Map<String, Object> config, KafkaSource.Options options, EventSource.Positions positions) {
        this.options = options;
        this.positions = positions;
        this.consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.subscribe(Set.of(options.topic()), this);
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        partitions.forEach(this::seekToStored);
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        partitions.forEach(stored::remove);
        partitions.forEach(blocked::remove);
    }

    private static String name(TopicPartition partition) {
        return partition.topic() + "-" + partition.partition();
    }

    /** Continues at the stored position, which another node may have moved. */
    private void seekToStored(TopicPartition partition) {
        OptionalLong known = positions.next(name(partition));
        if (known.isEmpty()) {
            Set<TopicPartition> one = Set.of(partition);
            Map<TopicPartition, Long> offsets =
                    options.fromEnd() ? consumer.endOffsets(one) : consumer.beginningOffsets(one);
            positions.add(name(partition), requireNonNull(offsets.get(partition)));
            known = positions.next(name(partition));
        }
        stored.put(partition, known.orElseThrow());
        consumer.seek(partition, known.orElseThrow());
    }

    @Override
    public void poll(Duration atMost) {
        retryBlocked();
        try {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(atMost);
            for (TopicPartition partition : records.partitions())
                if (stored.containsKey(partition)) store(partition, records.records(partition));
        } catch (OffsetOutOfRangeException removed) {
            removed.offsetOutOfRangePartitions().forEach(this::passRemoved);
        }
    }

    private void retryBlocked() {
        long now = System.nanoTime();
        List<TopicPartition> due = blocked.entrySet().stream()
                .filter(entry -> now - entry.getValue() >= 0)
                .map(Map.Entry::getKey)
                .toList();
        due.forEach(blocked::remove);
        due.forEach(this::seekToStored);
        consumer.resume(due);
    }

    private void store(TopicPartition partition, List<ConsumerRecord<byte[], byte[]>> records) {
        try {
            storeAll(partition, records);
        } catch (CarillonException invalid) {
            if (isTransient(invalid)) throw invalid;
            // The event of one of the records is invalid. One record after the other shows which.
            for (ConsumerRecord<byte[], byte[]> record : records)
                if (!blocked.containsKey(partition)) storeOne(partition, record);
        }
        consumer.commitAsync(Map.of(partition, new OffsetAndMetadata(position(partition))), null);
    }

    private long position(TopicPartition partition) {
        return stored.getOrDefault(partition, 0L);
    }

    private static boolean isTransient(CarillonException failure) {
        return failure.code() == ErrorCode.STORAGE || failure.code() == ErrorCode.DATABASE_UNREACHABLE;
    }

    private void storeOne(TopicPartition partition, ConsumerRecord<byte[], byte[]> record) {
        try {
            storeAll(partition, List.of(record));
        } catch (CarillonException invalid) {
            if (isTransient(invalid)) throw invalid;
            if (options.keepsUnpublished())
                move(partition, record.offset() + 1, List.of(), List.of(unpublished(record, invalid)));
            else block(partition, record, invalid);
        }
    }

    /** Stores the events of records in one transaction, up to a record that blocks the partition. */
    private void storeAll(TopicPartition partition, List<ConsumerRecord<byte[], byte[]>> records) {
        List<NewEvent<?>> events = new ArrayList<>();
        List<EventSource.UnpublishedRecord> unpublished = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            if (record.offset() < position(partition)) continue;
            try {
                if (options.filter().test(record)) events.add(options.event(record));
            } catch (RuntimeException failed) {
                if (!options.keepsUnpublished()) {
                    if (move(partition, record.offset(), events, unpublished)) block(partition, record, failed);
                    return;
                }
                unpublished.add(unpublished(record, failed));
            }
        }
        // Another node may have read on, and this one continues behind it.
        long to = records.get(records.size() - 1).offset() + 1;
        if (to > position(partition)) move(partition, to, events, unpublished);
    }

    private static EventSource.UnpublishedRecord unpublished(
            ConsumerRecord<byte[], byte[]> record, RuntimeException failed) {
        return new EventSource.UnpublishedRecord(record.offset(), record.key(), record.value(), reason(failed));
    }

    private static String reason(RuntimeException failed) {
        return failed.getMessage() == null ? failed.getClass().getName() : failed.getMessage();
    }

    /** Publishes events and moves the stored position. Returns false if another node has moved it. */
    private boolean move(
            TopicPartition partition,
            long to,
            List<NewEvent<?>> events,
            List<EventSource.UnpublishedRecord> unpublished) {
        long from = position(partition);
        if (to == from) return true;
        boolean moved = positions.store(new EventSource.Batch(name(partition), from, to, events, unpublished));
        if (moved) stored.put(partition, to);
        else {
            log.info("source continues at the position of another node partition={}", name(partition));
            seekToStored(partition);
        }
        return moved;
    }

    private void block(TopicPartition partition, ConsumerRecord<byte[], byte[]> record, RuntimeException failed) {
        if (!move(partition, record.offset(), List.of(), List.of())) return;
        positions.block(name(partition), record.offset(), reason(failed));
        if (!Long.valueOf(record.offset()).equals(reported.put(partition, record.offset())))
            log.error("record cannot be published partition={} offset={}", name(partition), record.offset(), failed);
        consumer.pause(Set.of(partition));
        blocked.put(partition, System.nanoTime() + RETRY_NANOS);
    }

    /** Continues with the oldest record that exists, and records which ones were removed before they were read. */
    private void passRemoved(TopicPartition partition, long position) {
        long oldest =
                requireNonNull(consumer.beginningOffsets(Set.of(partition)).get(partition));
        String reason =
                "Kafka had removed the records from %d to %d, or the topic was created again, before they were read"
                        .formatted(position, Math.max(position, oldest - 1));
        log.error(
                "records were removed before they were read partition={} from={} to={}",
                name(partition),
                position,
                oldest);
        boolean moved = move(
                partition, oldest, List.of(), List.of(new EventSource.UnpublishedRecord(position, null, null, reason)));
        if (moved) seekToStored(partition);
    }

    @Override
    public void close() {
        consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT));
    }
}
