package io.carillon.event;

import java.time.Instant;

/**
 * A topic that has events.
 *
 * @param lastMinute how many events were published within about the last minute, counted up to {@link #MAX_COUNT}
 * @param lastPublishedAt when the newest event was published
 */
public record TopicInfo(String name, long lastMinute, Instant lastPublishedAt) {
    /** Events are counted up to this number. */
    public static final long MAX_COUNT = 10_000;
}
