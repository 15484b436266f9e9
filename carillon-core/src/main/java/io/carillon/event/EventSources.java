package io.carillon.event;

import java.util.List;

/** The sources of one project. */
public interface EventSources {
    /** Returns the partitions of all sources, by source and partition. */
    List<SourcePartition> list();

    /** Returns the records that a source could not publish and has kept, the oldest first, at most {@code limit}. */
    List<SourcePartition.UnpublishedRecord> unpublished(String source, int limit);

    /** Removes an unpublished record, when it was published by other means or is not needed. */
    boolean removeUnpublished(String source, String partition, long position);

    /**
     * Passes the record at this position, which blocks its partition. Returns false if the partition is not at this
     * position.
     */
    boolean skip(String source, String partition, long position);

    /**
     * Removes the positions of a source and its unpublished records. A node that still has it starts from the
     * beginning.
     */
    boolean remove(String source);
}
