package io.carillon.run;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What a target said of one attempt. What follows from it is {@link Decider}'s word. */
public sealed interface Outcome {
    /** It did its work; a result, if any, is stored with the run. */
    record Succeeded(@Nullable Object result) implements Outcome {}

    /** It failed; retried while failures are allowed. */
    record Failed(Throwable error) implements Outcome {
        public Failed {
            requireNonNull(error, "error");
        }
    }

    /** It says no for good; never retried. */
    record Rejected(String reason) implements Outcome {
        public Rejected {
            requireNonNull(reason, "reason");
        }
    }

    /** It failed and names its own pause. */
    record RetryAfter(Duration pause, String reason) implements Outcome {
        public RetryAfter {
            requireNonNull(pause, "pause");
            requireNonNull(reason, "reason");
        }
    }

    /** Not a failure: again later, nothing counted. */
    record Snoozed(Duration pause) implements Outcome {
        public Snoozed {
            requireNonNull(pause, "pause");
        }
    }

    /** Somebody outside goes on with it: the attempt stays open until that one completes it with the token, or fails after so long. Only a digest is kept. */
    record Awaiting(Duration atMost, String digest) implements Outcome {
        public Awaiting {
            requireNonNull(atMost, "atMost");
            requireNonNull(digest, "digest");
        }
    }

    /** The engine ended it at its deadline; a failure. */
    record TimedOut(Duration timeout) implements Outcome {
        public TimedOut {
            requireNonNull(timeout, "timeout");
        }
    }

    /** Somebody cancelled the run and the attempt stopped. */
    record Cancelled(String reason) implements Outcome {
        public Cancelled {
            requireNonNull(reason, "reason");
        }
    }

    static Outcome succeeded(@Nullable Object result) {
        return new Succeeded(result);
    }

    static Outcome failed(Throwable error) {
        return new Failed(error);
    }

    static Outcome rejected(String reason) {
        return new Rejected(reason);
    }

    static Outcome retryAfter(Duration pause) {
        return new RetryAfter(pause, "the handler asked for another try after " + pause);
    }

    static Outcome awaiting(Duration atMost, CompletionToken token) {
        return new Awaiting(atMost, CompletionToken.digest(token.reveal()));
    }

    static Outcome snoozed(Duration pause) {
        return new Snoozed(pause);
    }
}
