package io.carillon.internal.store.event;

import io.carillon.event.SourcePartition;
import io.carillon.spi.EventSource;
import java.util.List;
import java.util.OptionalLong;

/** The port of sources. */
public interface SourceStore {
    /** A partition of a source. */
    record Partition(String project, String source, String part) {}

    OptionalLong next(Partition partition);

    void add(Partition partition, long next);

    /** Records to be stored: the events, in their stored form, and what could not be published. */
    record Batch(
            Partition partition,
            long from,
            long to,
            List<EventToStore> events,
            List<EventSource.UnpublishedRecord> unpublished) {
        public Batch {
            events = List.copyOf(events);
            unpublished = List.copyOf(unpublished);
        }
    }

    /** Moves a partition and publishes events in one transaction. Returns false if it was not at {@code from}. */
    boolean store(Batch batch);

    void block(Partition partition, long position, String reason);

    List<SourcePartition> list(String project);

    /** A partition that a record blocks. */
    record Blocked(Partition partition, long position, String reason) {}

    /** Returns blocked partitions of all projects, at most 100. */
    List<Blocked> blocked();

    List<SourcePartition.UnpublishedRecord> unpublished(String project, String source, int limit);

    boolean removeUnpublished(Partition partition, long position);

    boolean skip(Partition partition, long position);

    boolean remove(String project, String source);
}
