package io.carillon.webhook;

/** The meaning of a response, or of its absence. */
public enum Verdict {
    /** The receiver accepted the delivery. */
    DELIVERED,
    /**
     * The receiver answered 202 to a webhook with a callback and continues the work. The run stays open until the
     * receiver calls back.
     */
    ACCEPTED,
    /**
     * The receiver asks for fewer requests: 429, 502, 503 or 504. The delivery is retried, not before
     * the requested time.
     */
    SLOW_DOWN,
    /**
     * The receiver answered 410 and does not want further calls. The delivery is not retried; the owner of the webhook
     * should disable it.
     */
    GONE,
    /** Any other response, including redirects, which are never followed. The delivery is retried. */
    FAILED,
    /**
     * No connection was made: the host is unreachable, or the address policy forbids its address. The
     * delivery is retried.
     */
    UNREACHABLE,
    /** No complete response within the timeout. The delivery is retried. */
    TIMED_OUT,
    /**
     * Not sent: the host has reached its limit of concurrent requests, asked for a pause, or its breaker is open; or
     * the project has used up its share of the name lookups or connections of this node; or the database did not answer
     * when the endpoint was read. The delivery is postponed; this is not a failure.
     */
    HELD_BACK,
    /**
     * Not sent: the endpoint does not exist or a secret of it is unusable, or the project does not allow URLs that are
     * not endpoints. The delivery is retried.
     */
    NOT_SENDABLE;
}
