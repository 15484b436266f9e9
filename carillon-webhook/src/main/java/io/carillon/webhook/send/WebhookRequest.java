package io.carillon.webhook.send;

import io.carillon.webhook.guard.TargetAddress;
import java.time.Duration;
import java.util.Map;

/** A request to send, with its timeouts. {@link #toString} does not show the headers, which may contain secrets. */
@SuppressWarnings("ArrayRecordComponent") // never compared; no other object holds the bytes
public record WebhookRequest(
        TargetAddress address,
        String method,
        Map<String, String> headers,
        byte[] body,
        Duration timeout,
        Duration connectTimeout) {
    @Override
    public String toString() {
        return "WebhookRequest[%s %s, %d headers, %d bytes]".formatted(method, address, headers.size(), body.length);
    }
}
