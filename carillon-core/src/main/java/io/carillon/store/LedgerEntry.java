package io.carillon.store;

import io.carillon.run.RunId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What became of one planned instant ({@code count} 1, from = to) or of a stretch of them. */
public record LedgerEntry(
        Instant from,
        Instant to,
        long count,
        String state,
        @Nullable String reason,
        @Nullable RunId run,
        @Nullable Instant startedAt) {
    /** How long after its planned instant the run started; empty: it did not. Beyond the schedule's grace it was late. */
    public Optional<Duration> lateness() {
        return startedAt == null ? Optional.empty() : Optional.of(Duration.between(from, startedAt));
    }
}
