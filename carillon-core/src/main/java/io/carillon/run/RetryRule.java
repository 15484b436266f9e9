package io.carillon.run;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A handler's retry policy together with the errors that are never retried. */
public record RetryRule(Retry retry, List<Class<? extends Throwable>> never) {
    public RetryRule {
        never = List.copyOf(never);
    }

    /** Whether this error, or one it wraps, ends the run at once. */
    boolean isFinal(Throwable error) {
        Throwable cause = error;
        for (int depth = 0; cause != null && depth < 16; depth++, cause = causeOf(cause)) {
            Throwable current = cause;
            if (never.stream().anyMatch(type -> type.isInstance(current))) return true;
        }
        return false;
    }

    /** The error is user code: asking it for its cause may throw, too. */
    private static @Nullable Throwable causeOf(Throwable error) {
        try {
            return error.getCause();
        } catch (Throwable broken) {
            return null;
        }
    }
}
