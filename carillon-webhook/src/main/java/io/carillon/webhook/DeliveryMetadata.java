package io.carillon.webhook;

import io.carillon.internal.value.WallClock;
import io.carillon.run.RunContext;
import io.carillon.run.RunId;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The data of a delivery that is sent in its headers.
 *
 * @param id the {@code webhook-id}: the same for all attempts of a run, so that receivers can detect duplicates
 * @param attempt the attempt of the run; 0 for a test or replay
 * @param plannedAt null if the run has no planned instant
 */
public record DeliveryMetadata(
        String project, String id, int attempt, @Nullable Instant plannedAt, String idempotencyKey, Instant now) {
    static DeliveryMetadata ofRun(RunContext run) {
        return new DeliveryMetadata(
                run.project(),
                run.id().toString(),
                run.attempt(),
                run.plannedAt().orElse(null),
                run.idempotencyKey(),
                run.now());
    }

    /** Returns the metadata of a test or replay, which is not an attempt of a run. */
    static DeliveryMetadata manual(String project, RunId run) {
        return new DeliveryMetadata(
                project, run.toString(), 0, null, run.toString(), Instant.ofEpochMilli(WallClock.millis()));
    }

    Map<String, String> headers() {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("webhook-id", id);
        headers.put("webhook-timestamp", Long.toString(now.getEpochSecond()));
        headers.put("carillon-run", id);
        headers.put("carillon-attempt", Integer.toString(attempt));
        headers.put("carillon-idempotency-key", idempotencyKey);
        if (plannedAt != null) headers.put("carillon-planned-at", plannedAt.toString());
        return headers;
    }
}
