package io.carillon.event;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A partition that a source reads from a system outside of the database.
 *
 * @param name the name of the source
 * @param partition such as {@code payments-3}
 * @param next the position of the next record
 * @param movedAt when a record was last stored
 * @param blockedSince since when a record that cannot be published blocks the partition; null if none does
 * @param reason what is wrong with this record; null if there is none
 */
public record SourcePartition(
        String name,
        String partition,
        long next,
        Instant movedAt,
        @Nullable Instant blockedSince,
        @Nullable String reason) {
    /** A record that could not be published and that the source has passed. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record UnpublishedRecord(
            String partition,
            long position,
            byte @Nullable [] key,
            byte @Nullable [] value,
            String reason,
            Instant foundAt) {}
}
