package io.carillon.store;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** An attempt that did not end its run: who tried, what came of it and how long the pause was. */
public record AttemptRecord(
        int attempt,
        UUID node,
        @Nullable Instant startedAt,
        Instant endedAt,
        String outcome,
        @Nullable String error,
        @Nullable Duration pause) {}
