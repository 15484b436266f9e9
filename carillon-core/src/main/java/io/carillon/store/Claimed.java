package io.carillon.store;

import io.carillon.run.Attempt;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a claim got, each with the key it was found at, and the database's time. {@code alive} is false when the node was declared dead. */
public record Claimed(
        List<Attempt> attempts,
        List<Instant> readyAt,
        @Nullable Instant now,
        boolean alive) {
    public Claimed {
        attempts = List.copyOf(attempts);
        readyAt = List.copyOf(readyAt);
    }
}
