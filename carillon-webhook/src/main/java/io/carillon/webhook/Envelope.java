package io.carillon.webhook;

import io.carillon.run.RunContext;
import io.carillon.run.RunId;
import io.carillon.value.WallClock;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a delivery says about itself in its headers.
 *
 * @param id the {@code webhook-id}: the same at every attempt of a run, so that receivers can tell what they have seen
 * @param attempt 0: sent by hand
 */
public record Envelope(
        String project, String id, int attempt, @Nullable Instant planned, String key, Instant now) {
    static Envelope of(RunContext run) {
        return new Envelope(
                run.project(),
                run.id().toString(),
                run.attempt(),
                run.plannedAt().orElse(null),
                run.idempotencyKey(),
                run.now());
    }

    /** One that somebody sends by hand, outside any run's life. */
    static Envelope byHand(String project, RunId run) {
        return new Envelope(project, run.toString(), 0, null, run.toString(), Instant.ofEpochMilli(WallClock.millis()));
    }

    Map<String, String> headers() {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("webhook-id", id);
        headers.put("webhook-timestamp", Long.toString(now.getEpochSecond()));
        headers.put("carillon-run", id);
        headers.put("carillon-attempt", Integer.toString(attempt));
        headers.put("carillon-idempotency-key", key);
        if (planned != null) headers.put("carillon-planned-at", planned.toString());
        return headers;
    }
}
