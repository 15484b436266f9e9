package io.carillon.spi;

import io.carillon.event.NewEvent;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Reads records of a system outside of the database, such as Kafka, and publishes events for them. The position up to
 * which a partition was read is stored in the transaction that publishes its events, so each record is published once.
 * Every node reads; the system outside, or the positions, decide which node reads which partition.
 */
public interface EventSource {
    /** Returns the name, which is unique in the project. */
    String name();

    /** Opens a reader. Called on a thread of this source, and again after a failure. */
    Reader open(String project, Positions positions) throws Exception;

    /** A connection to the system outside. One thread uses it. */
    interface Reader extends AutoCloseable {
        /**
         * Reads and stores records. Waits for them at most this long. After an exception the reader is closed and
         * another one opened.
         */
        void poll(Duration atMost) throws Exception;

        /** Closes the connection without a long wait. */
        @Override
        void close();
    }

    /** The stored positions of the partitions of a source. */
    interface Positions {
        /** Returns the position of the next record to be read; empty for a partition that is not known yet. */
        OptionalLong next(String partition);

        /** Adds a partition that is not known yet. Does nothing if it is known. */
        void add(String partition, long next);

        /**
         * Publishes the events of a batch and moves its partition, in one transaction. Returns false, and stores
         * nothing, if the partition is not at {@code from}, because another node has read it meanwhile.
         */
        boolean store(Batch batch);

        /**
         * Reports a record that cannot be published, and that the partition does not pass. Shown by health until the
         * partition moves.
         */
        void block(String partition, long position, String reason);
    }

    /**
     * Records that were read from one partition.
     *
     * @param from the position of the partition before the batch
     * @param to the position behind the last record
     * @param events the events to be published, in order
     * @param unpublished the records that cannot be published
     */
    record Batch(String partition, long from, long to, List<NewEvent<?>> events, List<UnpublishedRecord> unpublished) {
        public Batch {
            events = List.copyOf(events);
            unpublished = List.copyOf(unpublished);
        }
    }

    /** A record that cannot be published. It is kept until it is removed. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record UnpublishedRecord(long position, byte @Nullable [] key, byte @Nullable [] value, String reason) {}
}
