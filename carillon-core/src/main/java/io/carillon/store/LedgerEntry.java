package io.carillon.store;

import io.carillon.run.RunId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What became of one planned instant ({@code count} 1, from = to) or of a stretch of them. */
public record LedgerEntry(
        Instant from,
        Instant to,
        long count,
        String state,
        @Nullable String reason,
        @Nullable RunId run,
        @Nullable Instant startedAt) {}
