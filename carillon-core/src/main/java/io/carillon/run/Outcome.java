package io.carillon.run;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The outcome of one attempt, as reported by its target. */
public sealed interface Outcome {
    /**
     * The attempt succeeded.
     *
     * @param result a value that is stored with the run; null if there is none
     */
    record Succeeded(@Nullable Object result) implements Outcome {}

    /** The attempt failed. The run is retried while its retry settings allow it. */
    record Failed(Throwable error) implements Outcome {
        public Failed {
            requireNonNull(error, "error");
        }
    }

    /** The attempt failed permanently. The run ends dead without a retry. */
    record Rejected(String reason) implements Outcome {
        public Rejected {
            requireNonNull(reason, "reason");
        }
    }

    /** The attempt failed, and the handler chose the delay of the retry. */
    record RetryAfter(Duration delay, String reason) implements Outcome {
        public RetryAfter {
            requireNonNull(delay, "delay");
            requireNonNull(reason, "reason");
        }
    }

    /** The run is tried again after a delay. The attempt does not count as a failure. */
    record Snoozed(Duration delay) implements Outcome {
        public Snoozed {
            requireNonNull(delay, "delay");
        }
    }

    /**
     * Another system continues the work. The attempt stays open until that system completes it with the callback token,
     * and fails after the timeout. Only a digest of the token is stored.
     */
    record AwaitingCallback(Duration timeout, String tokenDigest) implements Outcome {
        public AwaitingCallback {
            requireNonNull(timeout, "timeout");
            requireNonNull(tokenDigest, "tokenDigest");
        }
    }

    /** The engine ended the attempt at its deadline. Counts as a failure. */
    record TimedOut(Duration timeout) implements Outcome {
        public TimedOut {
            requireNonNull(timeout, "timeout");
        }
    }

    /** The run was cancelled and the attempt stopped. */
    record Cancelled(String reason) implements Outcome {
        public Cancelled {
            requireNonNull(reason, "reason");
        }
    }

    /** Returns the outcome of a successful attempt. The result, if not null, is stored with the run. */
    static Outcome succeeded(@Nullable Object result) {
        return new Succeeded(result);
    }

    /** Returns the outcome of a failed attempt, which is retried as the retry settings allow. */
    static Outcome failed(Throwable error) {
        return new Failed(error);
    }

    /** Returns the outcome of an attempt that must not be retried. The run ends dead. */
    static Outcome rejected(String reason) {
        return new Rejected(reason);
    }

    /** Returns the outcome of a failed attempt that is retried after this delay instead of the configured one. */
    static Outcome retryAfter(Duration delay) {
        return new RetryAfter(delay, "the handler requested a retry after " + delay);
    }

    /**
     * Returns the outcome of an attempt that another system completes with {@code Runs.complete} or {@code Runs.fail}.
     * Without such a call the attempt fails after the timeout.
     */
    static Outcome awaitingCallback(Duration timeout, CallbackToken token) {
        return new AwaitingCallback(timeout, CallbackToken.digest(token.reveal()));
    }

    /** Returns the outcome of an attempt that is repeated after this delay and does not count as a failure. */
    static Outcome snoozed(Duration delay) {
        return new Snoozed(delay);
    }
}
