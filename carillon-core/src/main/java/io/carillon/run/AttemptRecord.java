package io.carillon.run;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An attempt that did not end its run.
 *
 * @param startedAt null if the start is not known
 * @param outcome how the attempt ended, such as {@code failed} or {@code timed-out}
 * @param error null if the attempt did not fail
 * @param retryDelay the delay before the next attempt; null if there was none
 * @param log null if the handler wrote no log
 * @param delivery the target's description of its delivery; null if there is none
 */
public record AttemptRecord(
        int attempt,
        UUID node,
        @Nullable Instant startedAt,
        Instant endedAt,
        String outcome,
        @Nullable String error,
        @Nullable Duration retryDelay,
        @Nullable String log,
        @Nullable String delivery) {}
