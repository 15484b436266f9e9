package io.carillon.store;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** An attempt that did not end its run: who tried, what came of it, how long the pause was, and its log. */
public record AttemptRecord(
        int attempt,
        UUID node,
        @Nullable Instant startedAt,
        Instant endedAt,
        String outcome,
        @Nullable String error,
        @Nullable Duration pause,
        @Nullable String log,
        @Nullable String delivery) {}
