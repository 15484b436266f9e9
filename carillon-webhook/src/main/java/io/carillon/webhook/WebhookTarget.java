package io.carillon.webhook;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.webhook.guard.TargetAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The message that a webhook run sends; the payload of the run or schedule. It names an {@link Endpoint}, which has the
 * URL and the secrets, or a URL, which is called without secrets. The constructor validates it; whether a host may be
 * reached is decided at each delivery. In JSON only {@code endpoint} or {@code url} is required; missing fields have
 * the values of {@link #post}. Immutable; each method returns a changed copy.
 *
 * @param endpoint the name of the endpoint; null if the message has a URL. Method, timeouts, success and callback of
 *     the endpoint then apply, and those of the message keep their defaults
 * @param url the URL to call; null if the message names an endpoint
 * @param headers the headers to send; a header of the endpoint replaces one of the same name
 * @param success the status codes that mean success; empty means 200 to 299
 * @param callback the time a receiver that answers 202 may take to call back; null if 202 has no special meaning
 * @param event the event that is sent if the body is empty; null for other messages
 */
public record WebhookTarget(
        @Nullable String endpoint,
        @Nullable String url,
        String method,
        Map<String, String> headers,
        String body,
        Timeouts timeouts,
        List<Integer> success,
        @Nullable Duration callback,
        @Nullable WebhookEvent event) {
    private static final Set<String> METHODS = Set.of("GET", "POST", "PUT", "PATCH", "DELETE");
    private static final String DEFAULT_METHOD = "POST";
    private static final Duration MAX_CALLBACK = Duration.ofDays(30);
    private static final int MAX_BODY_LENGTH = 256 * 1024;

    /** The maximum duration of a delivery, and of connecting. */
    public record Timeouts(Duration total, Duration connect) {
        private static final Duration MIN_TIMEOUT = Duration.ofMillis(100);
        private static final Duration MAX_TIMEOUT = Duration.ofSeconds(60);
        private static final Timeouts DEFAULTS = new Timeouts(Duration.ofSeconds(15), Duration.ofSeconds(5));

        public Timeouts {
            total = total == null ? Duration.ofSeconds(15) : total;
            connect = connect == null ? Duration.ofSeconds(5) : connect;
            if (total.compareTo(MIN_TIMEOUT) < 0 || total.compareTo(MAX_TIMEOUT) > 0)
                throw invalid("timeouts.total must be between 0.1 and 60 seconds (was %s)".formatted(total));
            if (connect.compareTo(MIN_TIMEOUT) < 0 || connect.compareTo(MAX_TIMEOUT) > 0)
                throw invalid("timeouts.connect must be between 0.1 and 60 seconds (was %s)".formatted(connect));
        }

        /** Returns the allowed duration that is nearest to this one. */
        static Duration withinLimits(Duration timeout) {
            if (timeout.compareTo(MIN_TIMEOUT) < 0) return MIN_TIMEOUT;
            return timeout.compareTo(MAX_TIMEOUT) > 0 ? MAX_TIMEOUT : timeout;
        }
    }

    /** Replaces null by the default value, because JSON may leave out fields. */
    public WebhookTarget {
        if ((endpoint == null) == (url == null)) throw invalid("exactly one of endpoint and url is required");
        if (endpoint != null) Endpoint.checkName(endpoint);
        if (url != null) TargetAddress.parse(url);
        method = method == null ? DEFAULT_METHOD : method.toUpperCase(Locale.ROOT);
        if (!METHODS.contains(method)) throw invalid("method must be one of " + METHODS);
        headers = RequestHeaderRules.checked(headers == null ? Map.of() : headers);
        body = body == null ? "" : body;
        if (body.length() > MAX_BODY_LENGTH)
            throw invalid("body must have at most %d characters".formatted(MAX_BODY_LENGTH));
        timeouts = timeouts == null ? Timeouts.DEFAULTS : timeouts;
        success = success == null ? List.of() : List.copyOf(success);
        if (success.stream().anyMatch(code -> code < 200 || code > 599))
            throw invalid("the status codes of success must be between 200 and 599");
        if (callback != null && (callback.compareTo(Duration.ofSeconds(1)) < 0 || callback.compareTo(MAX_CALLBACK) > 0))
            throw invalid("callback must be between 1 second and 30 days (was %s)".formatted(callback));
        if (endpoint != null
                && !(method.equals(DEFAULT_METHOD)
                        && timeouts.equals(Timeouts.DEFAULTS)
                        && success.isEmpty()
                        && callback == null))
            throw invalid("method, timeouts, success and callback of an endpoint are set on the endpoint");
    }

    /** Returns a message without a body to the endpoint of this name. Its runs use the queue of the endpoint. */
    public static WebhookTarget to(String endpoint) {
        return new WebhookTarget(endpoint, null, "POST", Map.of(), "", Timeouts.DEFAULTS, List.of(), null, null);
    }

    /** Returns a POST request without a body, with a timeout of 15 seconds. It is not signed. */
    public static WebhookTarget post(String url) {
        return new WebhookTarget(null, url, "POST", Map.of(), "", Timeouts.DEFAULTS, List.of(), null, null);
    }

    public WebhookTarget method(String method) {
        return new WebhookTarget(endpoint, url, method, headers, body, timeouts, success, callback, event);
    }

    /**
     * Sets the body, which is sent in UTF-8 with every attempt. Its content type is {@code application/json} unless a
     * header sets another.
     */
    public WebhookTarget body(String text) {
        return new WebhookTarget(endpoint, url, method, headers, text, timeouts, success, callback, event);
    }

    public WebhookTarget header(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return headers(more);
    }

    /** Replaces all headers. */
    WebhookTarget headers(Map<String, String> all) {
        return new WebhookTarget(endpoint, url, method, all, body, timeouts, success, callback, event);
    }

    public WebhookTarget timeouts(Duration total, Duration connect) {
        return new WebhookTarget(
                endpoint, url, method, headers, body, new Timeouts(total, connect), success, callback, event);
    }

    /** Sets the status codes that mean success. */
    public WebhookTarget success(int... codes) {
        return new WebhookTarget(
                endpoint,
                url,
                method,
                headers,
                body,
                timeouts,
                IntStream.of(codes).boxed().toList(),
                callback,
                event);
    }

    /**
     * Lets a receiver that answers 202 continue the work and call back within this time with the callback
     * token it received.
     */
    public WebhookTarget callback(Duration within) {
        return new WebhookTarget(endpoint, url, method, headers, body, timeouts, success, within, event);
    }

    /** Returns the queue that runs with this message use; empty for the queue of the handler. */
    Optional<String> queue() {
        return Optional.ofNullable(endpoint).map(Endpoint::queueOf);
    }

    /** Returns the address of the URL. Must not be called on a message that names an endpoint. */
    TargetAddress address() {
        return TargetAddress.parse(requireNonNull(url, "url"));
    }

    byte[] bodyBytes() {
        return body.getBytes(UTF_8);
    }

    boolean isSuccess(int status) {
        return success.isEmpty() ? status >= 200 && status <= 299 : success.contains(status);
    }

    private static CarillonException invalid(String why) {
        return new CarillonException(ErrorCode.INVALID_OPTION, "Invalid webhook: %s.".formatted(why));
    }

    /** Shows neither path nor headers nor body, because each may contain a secret. */
    @Override
    public String toString() {
        return endpoint == null
                ? "WebhookTarget[%s %s]".formatted(method, address())
                : "WebhookTarget[endpoint %s]".formatted(endpoint);
    }
}
