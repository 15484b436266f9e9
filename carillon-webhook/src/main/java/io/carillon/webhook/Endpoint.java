package io.carillon.webhook;

import static java.util.Objects.requireNonNull;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.Names;
import io.carillon.run.Retry;
import io.carillon.spi.Secret;
import io.carillon.webhook.guard.TargetAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A receiver that webhooks call by its name: its URL, how to call it, and the secrets that only it receives. Runs read
 * it at each attempt. They use the queue {@code endpoint.<name>}, so that limits and pauses of this queue apply to the
 * endpoint. Immutable; each method returns a changed copy.
 */
public final class Endpoint {
    private static final int MAX_NAME_LENGTH = 91;

    private final String name;
    /** The request without a body. Its headers contain no secret. */
    private final WebhookTarget request;
    /** The retries of its runs; null for those of the handler. */
    private final @Nullable Retry retry;

    private final @Nullable Supplier<List<Secret>> signing;
    private final Map<String, Supplier<Secret>> secretHeaders;

    private Endpoint(
            String name,
            WebhookTarget request,
            @Nullable Retry retry,
            @Nullable Supplier<List<Secret>> signing,
            Map<String, Supplier<Secret>> secretHeaders) {
        this.name = checkName(name);
        this.request = request;
        this.retry = retry;
        this.signing = signing;
        this.secretHeaders = Map.copyOf(secretHeaders);
    }

    /**
     * Returns an endpoint that is called with POST and a timeout of 15 seconds, without secrets.
     *
     * @param name at most 91 characters of a-z, 0-9, dot, underscore and hyphen
     */
    public static Endpoint named(String name, String url) {
        return of(name, WebhookTarget.post(url));
    }

    /** Returns an endpoint that is called like this message, which must have a URL. Its body is not used. */
    public static Endpoint of(String name, WebhookTarget request) {
        if (request.url() == null)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "Endpoint '%s' needs a URL, not the name of an endpoint.".formatted(name));
        return new Endpoint(name, request.body(""), null, null, Map.of());
    }

    /** Returns the name if it is valid. A name is shorter than others because the name of its queue contains it. */
    public static String checkName(String name) {
        Names.check("endpoint", name);
        if (name.length() > MAX_NAME_LENGTH)
            throw new CarillonException(
                    ErrorCode.INVALID_NAME,
                    "An endpoint name must have at most %d characters (was %d)."
                            .formatted(MAX_NAME_LENGTH, name.length()));
        return name;
    }

    /** Returns the name of a header in lower case if requests may have this header. */
    public static String checkHeader(String header) {
        return RequestHeaderRules.checkName(header);
    }

    /** Returns the queue of the runs that call the endpoint of this name. */
    public static String queueOf(String name) {
        return Names.ENDPOINT_QUEUE_PREFIX + name;
    }

    public Endpoint method(String method) {
        return with(request.method(method));
    }

    /** Adds a header to every request. A message cannot replace it. */
    public Endpoint header(String header, String value) {
        return with(request.header(header, value));
    }

    public Endpoint timeouts(Duration total, Duration connect) {
        return with(request.timeouts(total, connect));
    }

    /** Sets the status codes that mean success. */
    public Endpoint success(int... codes) {
        return with(request.success(codes));
    }

    /**
     * Lets a receiver that answers 202 continue the work and call back within this time with the callback
     * token it received.
     */
    public Endpoint callback(Duration within) {
        return with(request.callback(within));
    }

    /**
     * Sets how often and after which delays its runs are retried, unless a run has a setting of its own. Default: that
     * of the handler, see {@link Webhooks#defaultOptions}.
     */
    public Endpoint retry(Retry setting) {
        return new Endpoint(name, request, setting, signing, secretHeaders);
    }

    /**
     * Signs every request. The supplier is called at each attempt and returns the signing secrets, newest first: two
     * while the secret is being rotated.
     */
    public Endpoint signedWith(Supplier<List<Secret>> secrets) {
        return new Endpoint(name, request, retry, secrets, secretHeaders);
    }

    /** Adds a header whose value is a secret. The supplier is called at each attempt. */
    public Endpoint secretHeader(String header, Supplier<Secret> value) {
        Map<String, Supplier<Secret>> more = new LinkedHashMap<>(secretHeaders);
        more.put(checkHeader(header), value);
        return new Endpoint(name, request, retry, signing, more);
    }

    private Endpoint with(WebhookTarget changed) {
        return new Endpoint(name, changed, retry, signing, secretHeaders);
    }

    public String name() {
        return name;
    }

    /** Returns how its runs are retried; empty for the setting of the handler. */
    Optional<Retry> retry() {
        return Optional.ofNullable(retry);
    }

    /** Returns the URL that is called. */
    public String url() {
        return requireNonNull(request.url());
    }

    /** Returns scheme, host and port of a URL in canonical form, such as {@code https://hooks.example.com:443}. */
    public static String originOf(String url) {
        return TargetAddress.parse(url).toString();
    }

    /**
     * Returns the request that sends a message, without secrets. Headers of the endpoint replace those of the message.
     */
    WebhookTarget requestFor(WebhookTarget message) {
        Map<String, String> headers = new LinkedHashMap<>(message.headers());
        headers.keySet().removeAll(secretHeaders.keySet());
        headers.putAll(request.headers());
        return request.headers(headers).body(message.body());
    }

    /** Returns the values of the secret headers. */
    Map<String, String> secretHeaderValues() {
        Map<String, String> values = new LinkedHashMap<>();
        secretHeaders.forEach((header, secret) -> {
            String value = secret.get().reveal();
            RequestHeaderRules.checkValue(header, value);
            values.put(header, value);
        });
        return values;
    }

    /** Returns the secrets that sign requests, newest first; empty if requests are not signed. */
    Optional<List<Secret>> signingSecrets() {
        if (signing == null) return Optional.empty();
        List<Secret> secrets = signing.get();
        if (secrets.isEmpty())
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "Endpoint \"%s\" is signed but has no signing secret now.".formatted(name));
        return Optional.of(secrets);
    }

    /** Shows neither path nor headers, because each may contain a secret. */
    @Override
    public String toString() {
        return "Endpoint[%s %s]".formatted(name, request.address());
    }
}
