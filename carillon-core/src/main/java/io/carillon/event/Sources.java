package io.carillon.event;

import java.util.List;

/** The sources of one project. */
public interface Sources {
    /** Returns the partitions of all sources, by source and partition. */
    List<Source> list();

    /** Returns the records that a source has parked, the oldest first, at most {@code limit}. */
    List<Source.Parked> parked(String source, int limit);

    /** Removes a parked record, when it was published by other means or is not needed. */
    boolean removeParked(String source, String partition, long position);

    /**
     * Passes the record at this position, which blocks its partition. Returns false if the partition is not at this
     * position.
     */
    boolean skip(String source, String partition, long position);

    /** Removes the positions of a source and its parked records. A node that still has it starts from the beginning. */
    boolean remove(String source);
}
