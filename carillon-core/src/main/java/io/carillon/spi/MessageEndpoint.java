package io.carillon.spi;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Answers requests that contain messages, for a function platform or a queue that pushes its messages over HTTP:
 * {@code new MessageEndpoint(carillon::consume)}. It uses no HTTP library. A request needs no other authorization,
 * because each message contains its own.
 *
 * <p>The body has one message per line. The status is 200 if the platform may remove all of them, and 503 if it has to
 * send the request again; messages that are done are then recognized. The response lists the results in JSON.
 */
public final class MessageEndpoint {
    private static final int MAX_MESSAGES = 1_000;
    private static final int MAX_BYTES = 1 << 20;

    private final Function<List<String>, List<MessageResult>> consumer;

    /** Creates an endpoint that passes the messages to this consumer. */
    public MessageEndpoint(Function<List<String>, List<MessageResult>> consumer) {
        this.consumer = consumer;
    }

    /**
     * A response.
     *
     * @param status the HTTP status: 200, 413 or 503
     * @param body JSON in UTF-8
     */
    public record Response(int status, String body) {}

    /** Executes the runs of a request body, in UTF-8, and returns the response. Returns when they have ended. */
    public Response answer(byte[] body) {
        if (body.length > MAX_BYTES) return tooLarge();
        List<String> messages =
                new String(body, UTF_8).lines().filter(line -> !line.isBlank()).toList();
        if (messages.size() > MAX_MESSAGES) return tooLarge();
        List<MessageResult> results = consumer.apply(messages);
        boolean again = results.stream().anyMatch(MessageResult.Retry.class::isInstance);
        return new Response(
                again ? 503 : 200,
                results.stream().map(MessageEndpoint::json).collect(Collectors.joining(",", "{\"results\":[", "]}")));
    }

    private static Response tooLarge() {
        return new Response(413, "{\"error\":\"at most %d messages and %d bytes\"}".formatted(MAX_MESSAGES, MAX_BYTES));
    }

    private static String json(MessageResult result) {
        if (result instanceof MessageResult.Retry retry)
            return "{\"result\":\"retry\",\"delaySeconds\":%d}"
                    .formatted(retry.delay().toSeconds());
        if (result instanceof MessageResult.GiveUp giveUp)
            return "{\"result\":\"give-up\",\"reason\":\"%s\"}"
                    .formatted(giveUp.reason().replaceAll("[\"\\\\\\p{Cntrl}]", " "));
        return "{\"result\":\"acknowledge\"}";
    }
}
