package io.carillon.webhook.send;

import java.time.Duration;
import java.util.Map;

/** The result of one request. */
public sealed interface SendResult {
    /** The receiver responded; {@code headers} and {@code body} are the kept part of the response. */
    record Response(int status, Map<String, String> headers, String body) implements SendResult {}

    /**
     * No connection: the name is unknown, the host refused, or the address guard forbids it. Users cannot distinguish
     * these cases.
     */
    record Unreachable() implements SendResult {}

    /** The request took longer than its timeout, in any phase. */
    record TimedOut() implements SendResult {}

    /** A connection was made, but no readable response was received. */
    record InvalidResponse(String reason) implements SendResult {}

    /** Nothing was sent, because this node has no capacity left for the project; the sender tries again later. */
    record HeldBack(String reason, Duration pause) implements SendResult {}
}
