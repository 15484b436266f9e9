package io.carillon.store;

import io.carillon.run.Attempt;
import io.carillon.run.Lane;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * What a claim got in the order it was ready, and the instant each was ready at; {@code shut}: lanes whose limit is reached, and until when there is no use in
 * asking again, unless one of their runs ends.
 */
public record Claimed(List<Attempt> attempts, List<Instant> readyAt, Map<Lane, Instant> shut) {
    public Claimed {
        attempts = List.copyOf(attempts);
        readyAt = List.copyOf(readyAt);
        shut = Map.copyOf(shut);
    }
}
