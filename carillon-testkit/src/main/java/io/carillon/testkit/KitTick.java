package io.carillon.testkit;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** One planned instant of a schedule and what became of it: {@code waiting}, {@code running}, how its run ended, {@code skipped} or {@code missed}. */
public record KitTick(
        Instant plannedAt, String state, @Nullable String reason) {}
