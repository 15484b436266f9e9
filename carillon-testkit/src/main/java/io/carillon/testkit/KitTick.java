package io.carillon.testkit;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A planned instant of a schedule and what happened to it.
 *
 * @param state {@code waiting}, {@code running}, the final state of its run, {@code skipped} or {@code missed}
 * @param reason null if there is none
 */
public record KitTick(
        Instant plannedAt, String state, @Nullable String reason) {}
