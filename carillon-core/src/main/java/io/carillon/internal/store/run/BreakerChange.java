package io.carillon.internal.store.run;

import io.carillon.internal.run.Lane;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A breaker that opened or closed. {@code until} is the time of its next probe, or null if it closed. */
public record BreakerChange(Lane lane, @Nullable Instant until) {}
