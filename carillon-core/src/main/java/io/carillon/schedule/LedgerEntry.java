package io.carillon.schedule;

import io.carillon.run.RunId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A ledger entry for one planned instant ({@code count} is 1, from = to), or for a range of them.
 *
 * @param state the state of the run, {@code skipped} or {@code missed}
 * @param reason null if there is none
 * @param run null if no run was created
 * @param startedAt when the first attempt of the run started; null if no run was started
 * @param endedAt when the run ended; null if no run has ended
 */
public record LedgerEntry(
        Instant from,
        Instant to,
        long count,
        String state,
        @Nullable String reason,
        @Nullable RunId run,
        @Nullable Instant startedAt,
        @Nullable Instant endedAt) {
    /**
     * Returns how long after its planned instant the run first started, or empty if it did not start; retries do not
     * count. A run that started later than the schedule's grace period is late.
     */
    public Optional<Duration> lateness() {
        if (startedAt == null) return Optional.empty();
        return Optional.of(startedAt.isBefore(from) ? Duration.ZERO : Duration.between(from, startedAt));
    }
}
