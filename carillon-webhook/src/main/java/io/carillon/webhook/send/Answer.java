package io.carillon.webhook.send;

import java.util.Map;

/** What became of one request. */
public sealed interface Answer {
    /** The receiver answered; {@code headers} and {@code body} are as much of it as is kept. */
    record Response(int status, Map<String, String> headers, String body) implements Answer {}

    /** Nobody was reached: the name is unknown, nobody listens, or the guard said no. Users cannot tell which. */
    record Unreachable() implements Answer {}

    /** It took longer than allowed, wherever the time went. */
    record TimedOut() implements Answer {}

    /** Somebody was reached, but no answer came that can be read. */
    record Broken(String why) implements Answer {}
}
