package io.carillon.webhook;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.run.CallbackToken;
import io.carillon.run.Retry;
import io.carillon.spi.Secret;
import io.carillon.webhook.guard.TargetAddress;
import io.carillon.webhook.send.WebhookRequest;
import io.carillon.webhook.sign.SigningSecret;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Builds the request of a delivery: finds the endpoint, and adds the headers of the sender, the secrets of the endpoint
 * and the signature. Secrets come from the endpoint only, and only a request to the URL of the endpoint gets them.
 */
final class RequestFactory {
    /** Starts the names of the headers of an event, so that they cannot replace other headers. */
    private static final String EVENT_HEADER_PREFIX = "carillon-event-";

    private final EndpointSource endpoints;

    RequestFactory(EndpointSource endpoints) {
        this.endpoints = endpoints;
    }

    /**
     * A request that can be sent.
     *
     * @param target the message with the URL and the settings of its endpoint; it contains no secret
     * @param retry how the endpoint wants its runs retried; empty if it has no such setting
     */
    record PreparedRequest(WebhookTarget target, WebhookRequest request, Optional<Retry> retry) {
        /** Returns the called URL without its query, which may contain a secret. */
        String calledUrl() {
            TargetAddress address = request.address();
            int query = address.path().indexOf('?');
            return address + (query < 0 ? address.path() : address.path().substring(0, query));
        }
    }

    /**
     * Returns the request that sends a message now.
     *
     * @param callbackToken sent if the target has a callback; null for a request that is not an attempt
     * @param timeout returns how long the request may take, from the timeout of the target
     * @throws CarillonException if the message cannot be sent; the text says why
     */
    PreparedRequest prepare(
            DeliveryMetadata metadata,
            WebhookTarget message,
            @Nullable CallbackToken callbackToken,
            UnaryOperator<Duration> timeout) {
        Optional<Endpoint> endpoint = endpointOf(metadata.project(), message);
        WebhookTarget target =
                withTimeout(endpoint.map(found -> found.requestFor(message)).orElse(message), timeout);
        byte[] body = target.bodyBytes();
        Map<String, String> headers = new LinkedHashMap<>();
        if (body.length > 0) headers.put("content-type", "application/json");
        headers.putAll(target.headers());
        endpoint.ifPresent(found -> headers.putAll(found.secretHeaderValues()));
        WebhookEvent event = message.event();
        if (event != null) event.headers().forEach((name, value) -> headers.put(EVENT_HEADER_PREFIX + name, value));
        headers.putAll(metadata.headers());
        if (callbackToken != null && target.callback() != null)
            headers.put("carillon-callback-token", callbackToken.reveal());
        Optional<List<Secret>> secrets = endpoint.flatMap(Endpoint::signingSecrets);
        if (secrets.isPresent()) {
            List<SigningSecret> signers = secrets.get().stream()
                    .map(value -> SigningSecret.parse(value.reveal()))
                    .toList();
            headers.put(
                    "webhook-signature",
                    SigningSecret.signatures(
                            signers, metadata.id(), metadata.now().getEpochSecond(), body));
        }
        WebhookTarget.Timeouts timeouts = target.timeouts();
        return new PreparedRequest(
                target,
                new WebhookRequest(
                        target.address(), target.method(), headers, body, timeouts.total(), timeouts.connect()),
                endpoint.flatMap(Endpoint::retry));
    }

    private static WebhookTarget withTimeout(WebhookTarget target, UnaryOperator<Duration> timeout) {
        WebhookTarget.Timeouts timeouts = target.timeouts();
        Duration total = timeout.apply(timeouts.total());
        return timeouts.total().equals(total) ? target : target.timeouts(total, timeouts.connect());
    }

    private Optional<Endpoint> endpointOf(String project, WebhookTarget message) {
        String name = message.endpoint();
        if (name == null) {
            if (endpoints.allowsAdHocUrls(project)) return Optional.empty();
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "Project \"%s\" allows endpoints only, not URLs. Create an endpoint and name it in the webhook."
                            .formatted(project));
        }
        return Optional.of(endpoints
                .find(project, name)
                .orElseThrow(() -> new CarillonException(
                        ErrorCode.UNKNOWN_ENDPOINT,
                        "Project \"%s\" has no endpoint named \"%s\". Create it, or cancel the run."
                                .formatted(project, name))));
    }
}
