package io.carillon.webhook.send;

import io.carillon.webhook.guard.Endpoint;
import java.time.Duration;
import java.util.Map;

/** What is to be sent, and how long it may take. Its headers may hold secrets: it shows none of them. */
@SuppressWarnings("ArrayRecordComponent") // never compared; the bytes were made for it alone
public record Message(
        Endpoint endpoint,
        String method,
        Map<String, String> headers,
        byte[] body,
        Duration timeout,
        Duration connectTimeout) {
    @Override
    public String toString() {
        return "Message[%s %s, %d headers, %d bytes]".formatted(method, endpoint, headers.size(), body.length);
    }
}
