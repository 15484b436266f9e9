package io.carillon.internal.run;

import io.carillon.run.Retry;
import io.carillon.run.Run;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The stored form of retry and timeout settings: {@code attempts=3 first=PT5S factor=2.0 cap=PT1H jitter=1.0}. */
public final class PolicyText {
    private PolicyText() {}

    /** Returns the text to store; null if there are no settings. */
    public static @Nullable String of(Run.Policy policy) {
        Retry retry = policy.retry();
        String retryText = retry == null ? "" : of(retry);
        String timeoutText = policy.timeout() == null ? "" : "timeout=" + policy.timeout();
        String text = (retryText + " " + timeoutText).strip();
        return text.isEmpty() ? null : text;
    }

    /** Returns the text to store. */
    public static String of(Retry retry) {
        return "attempts=%s first=%s factor=%s cap=%s jitter=%s"
                .formatted(retry.attempts(), retry.first(), retry.factor(), retry.cap(), retry.jitter());
    }

    /**
     * Reads a stored text. Names and values of another version are left out: the run is executed with the other
     * settings, because a text that stops a run would stop every run that is claimed with it.
     */
    public static Run.Policy parse(@Nullable String text) {
        if (text == null) return Run.Policy.none();
        Map<String, String> values = new HashMap<>();
        for (String part : text.split(" ", -1)) {
            int equals = part.indexOf('=');
            if (equals > 0) values.put(part.substring(0, equals), part.substring(equals + 1));
        }
        Run.Policy policy = Run.Policy.none().withRetry(values.containsKey("attempts") ? retry(values) : null);
        Duration timeout = read(values, "timeout", Duration::parse);
        Run.Policy timed = timeout == null ? null : orNull(() -> policy.withTimeout(timeout));
        return timed == null ? policy : timed;
    }

    /** Reads the retry settings of a stored text; null if it has none. */
    public static @Nullable Retry parseRetry(@Nullable String text) {
        return parse(text).retry();
    }

    private static @Nullable Retry retry(Map<String, String> values) {
        Integer attempts = read(values, "attempts", Integer::valueOf);
        Duration first = read(values, "first", Duration::parse);
        Double factor = read(values, "factor", Double::valueOf);
        Duration cap = read(values, "cap", Duration::parse);
        Double jitter = read(values, "jitter", Double::valueOf);
        if (attempts == null || first == null || factor == null || cap == null || jitter == null) return null;
        return orNull(() -> Retry.exponential(first)
                .factor(factor)
                .cap(cap)
                .attempts(attempts)
                .jitter(jitter));
    }

    private static <T> @Nullable T read(Map<String, String> values, String name, Function<String, T> reader) {
        String value = values.get(name);
        return value == null ? null : orNull(() -> reader.apply(value));
    }

    private interface Reader<T> {
        T read();
    }

    private static <T> @Nullable T orNull(Reader<T> reader) {
        try {
            return reader.read();
        } catch (RuntimeException unknown) {
            return null;
        }
    }
}
