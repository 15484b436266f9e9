package io.carillon.server.endpoint;

import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import java.time.Duration;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Converts the retry and timeout settings of runs, schedules and endpoints from and to JSON. */
public final class RetryJson {
    private RetryJson() {}

    /** Reads the fields {@code retry} and {@code timeout}. */
    public static Run.Policy readPolicy(JsonFields body) {
        Run.Policy policy = Run.Policy.none().withRetry(readRetry(body).orElse(null));
        Optional<Duration> timeout = body.duration("timeout");
        return timeout.isEmpty() ? policy : body.convert("timeout", () -> policy.withTimeout(timeout.get()));
    }

    /** Reads the field {@code retry}. Parts that are left out have the values of {@link Retry#defaults}. */
    public static Optional<Retry> readRetry(JsonFields body) {
        return body.object("retry").map(RetryJson::retry);
    }

    private static Retry retry(JsonFields fields) {
        Optional<Integer> attempts = fields.integer("attempts");
        Optional<Duration> first = fields.duration("first");
        Optional<Double> factor = fields.decimal("factor");
        Optional<Duration> cap = fields.duration("cap");
        Optional<Double> jitter = fields.decimal("jitter");
        fields.refuseUnknown();
        Duration start = first.orElse(
                cap.filter(RetryJson::isShort).orElse(Retry.defaults().first()));
        Retry retry = fields.convert("first", () -> Retry.exponential(start));
        retry = with(fields, "cap", retry, cap.map(value -> before -> before.cap(value)));
        retry = with(fields, "factor", retry, factor.map(value -> before -> before.factor(value)));
        retry = with(fields, "attempts", retry, attempts.map(value -> before -> before.attempts(value)));
        return with(fields, "jitter", retry, jitter.map(value -> before -> before.jitter(value)));
    }

    /** Returns whether a valid cap is shorter than the default of the first delay, which must not exceed it. */
    private static boolean isShort(Duration cap) {
        return !cap.isNegative() && cap.compareTo(Retry.defaults().first()) < 0;
    }

    private static Retry with(JsonFields fields, String name, Retry before, Optional<UnaryOperator<Retry>> change) {
        return change.isEmpty()
                ? before
                : fields.convert(name, () -> change.get().apply(before));
    }

    /** Returns the JSON of retry settings; null if there are none, so that the field is left out. */
    public static @Nullable JsonObject toJson(@Nullable Retry retry) {
        if (retry == null) return null;
        return new JsonObject()
                .put("attempts", retry.attempts())
                .put("first", retry.first())
                .put("factor", retry.factor())
                .put("cap", retry.cap())
                .put("jitter", retry.jitter());
    }
}
