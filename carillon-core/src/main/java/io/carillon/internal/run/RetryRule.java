package io.carillon.internal.run;

import io.carillon.run.Retry;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The retry settings of an attempt and the exception types that its handler does not retry. */
public record RetryRule(Retry policy, List<Class<? extends Throwable>> noRetryOn) {
    public RetryRule {
        noRetryOn = List.copyOf(noRetryOn);
    }

    /** Returns this rule with other retry settings; the exception types stay. */
    public RetryRule withPolicy(Retry other) {
        return new RetryRule(other, noRetryOn);
    }

    /** Returns whether this exception or one of its causes ends the run without a retry. */
    public boolean isFinal(Throwable error) {
        Throwable cause = error;
        for (int depth = 0; cause != null && depth < 16; depth++, cause = causeOf(cause)) {
            Throwable current = cause;
            if (noRetryOn.stream().anyMatch(type -> type.isInstance(current))) return true;
        }
        return false;
    }

    /** Returns the cause; null if {@code getCause}, which may be user code, throws. */
    private static @Nullable Throwable causeOf(Throwable error) {
        try {
            return error.getCause();
        } catch (Throwable broken) {
            return null;
        }
    }
}
