package io.carillon.testkit;

import io.carillon.run.RunId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A run as the tables show it: its state is {@code waiting}, {@code running}, or how it ended. The payload is text, where one is kept. */
public record KitRun(
        RunId id,
        String handler,
        String queue,
        String state,
        @Nullable String key,
        Instant dueAt,
        int attempt,
        int failures,
        @Nullable String reason,
        @Nullable String payload) {}
