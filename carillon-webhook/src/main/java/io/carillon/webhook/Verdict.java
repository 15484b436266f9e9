package io.carillon.webhook;

/** What an answer means. */
public enum Verdict {
    /** The receiver took it. */
    DELIVERED,
    /** The receiver took it and goes on with the work: 202 to a webhook with a callback. The run stays open until it calls back. */
    ACCEPTED,
    /** The receiver asks for less: 429, 502, 503 or 504. Tried again, not before the time it named. */
    SLOW_DOWN,
    /** The receiver does not want to be called any more: 410. Never tried again; whoever owns the webhook should switch it off. */
    GONE,
    /** Any other answer, redirects among them: they are never followed. Tried again. */
    FAILED,
    /** No answer: nobody was reached, or it may not be reached from here. Tried again. */
    UNREACHABLE,
    /** No whole answer in time. Tried again. */
    TIMED_OUT,
    /** Not sent: this host has enough requests under way, or is being left alone for a while. Tried later, and no failure. */
    HELD_BACK,
    /** Not sent: a secret it names is unknown here, or cannot be used. Tried again. */
    NOT_SENDABLE;

    /** Whether the host itself seems to be in trouble, by this alone. */
    boolean blamesTheHost() {
        return this == UNREACHABLE || this == TIMED_OUT || this == SLOW_DOWN;
    }
}
