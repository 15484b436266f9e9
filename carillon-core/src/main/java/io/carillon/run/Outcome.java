package io.carillon.run;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What a target said of one attempt. What follows from it is {@link Decider}'s word. */
public sealed interface Outcome {
    /** It did its work; a result, if any, is stored with the run. */
    record Succeeded(@Nullable Object result) implements Outcome {}

    /** It failed; retried while failures are allowed. */
    record Failed(Throwable error) implements Outcome {}

    /** It says no for good; never retried. */
    record Rejected(String reason) implements Outcome {}

    /** It failed and names its own pause. */
    record RetryAfter(Duration pause, String reason) implements Outcome {}

    /** Not a failure: again later, nothing counted. */
    record Snoozed(Duration pause) implements Outcome {}

    /** The engine ended it at its deadline; a failure. */
    record TimedOut(Duration timeout) implements Outcome {}

    /** Somebody cancelled the run and the attempt stopped. */
    record Cancelled(String reason) implements Outcome {}

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

    static Outcome snoozed(Duration pause) {
        return new Snoozed(pause);
    }
}
