package io.carillon.testkit;

import io.carillon.run.RunId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A run as stored in the tables.
 *
 * @param state {@code waiting}, {@code running}, or the final state
 * @param uniqueKey null if the run has no unique key
 * @param reason the error, or the reason why the run waits, was skipped or cancelled; null if there is none
 * @param payload the payload as text; null if it is not kept
 */
public record KitRun(
        RunId id,
        String handler,
        String queue,
        String state,
        @Nullable String uniqueKey,
        Instant dueAt,
        int attempt,
        int failures,
        @Nullable String reason,
        @Nullable String payload) {}
