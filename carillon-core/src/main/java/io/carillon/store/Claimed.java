package io.carillon.store;

import io.carillon.run.Attempt;
import java.time.Instant;
import java.util.List;

/** What a claim got in the order it was ready, and the instant each was ready at. */
public record Claimed(List<Attempt> attempts, List<Instant> readyAt) {
    public Claimed {
        attempts = List.copyOf(attempts);
        readyAt = List.copyOf(readyAt);
    }
}
