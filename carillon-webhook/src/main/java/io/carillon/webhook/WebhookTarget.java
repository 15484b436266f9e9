package io.carillon.webhook;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.Names;
import io.carillon.webhook.guard.TargetAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP request that a webhook run sends; the payload of the run or schedule. The constructor validates it; whether
 * its host may be reached is decided at each delivery. It contains the names of secrets, never their values. In JSON
 * only {@code url} is required; missing fields have the values of {@link #post}. Immutable; each method returns a
 * changed copy.
 *
 * @param headers the headers to send
 * @param secretHeaders maps a header name to the name of the secret that is its value
 * @param secret the name of the signing secret; null if the request is not signed
 * @param success the status codes that mean success; empty means 200 to 299
 * @param callback the time a receiver that answers 202 may take to call back; null if 202 has no special meaning
 */
public record WebhookTarget(
        String url,
        String method,
        Map<String, String> headers,
        Map<String, String> secretHeaders,
        @Nullable String secret,
        String body,
        Timeouts timeouts,
        List<Integer> success,
        @Nullable Duration callback) {
    private static final Set<String> METHODS = Set.of("GET", "POST", "PUT", "PATCH", "DELETE");
    private static final Duration MAX_CALLBACK = Duration.ofDays(30);
    private static final int MAX_BODY_LENGTH = 256 * 1024;

    /** The maximum duration of a delivery, and of connecting. */
    public record Timeouts(Duration total, Duration connect) {
        private static final Duration MAX_TIMEOUT = Duration.ofSeconds(60);

        public Timeouts {
            total = total == null ? Duration.ofSeconds(15) : total;
            connect = connect == null ? Duration.ofSeconds(5) : connect;
            if (total.compareTo(Duration.ofMillis(100)) < 0 || total.compareTo(MAX_TIMEOUT) > 0)
                throw invalid("timeouts.total must be between 0.1 and 60 seconds (was %s)".formatted(total));
            if (connect.compareTo(Duration.ofMillis(100)) < 0 || connect.compareTo(MAX_TIMEOUT) > 0)
                throw invalid("timeouts.connect must be between 0.1 and 60 seconds (was %s)".formatted(connect));
        }
    }

    /** Replaces null by the default value, because JSON may leave out fields. */
    public WebhookTarget {
        if (url == null) throw invalid("url is missing");
        TargetAddress.parse(url);
        method = method == null ? "POST" : method.toUpperCase(Locale.ROOT);
        if (!METHODS.contains(method)) throw invalid("method must be one of " + METHODS);
        headers = RequestHeaderRules.checked(headers == null ? Map.of() : headers);
        secretHeaders = RequestHeaderRules.checked(secretHeaders == null ? Map.of() : secretHeaders);
        secretHeaders.values().forEach(name -> Names.check("secret", name));
        if (secret != null) Names.check("secret", secret);
        body = body == null ? "" : body;
        if (body.length() > MAX_BODY_LENGTH)
            throw invalid("body must have at most %d characters".formatted(MAX_BODY_LENGTH));
        timeouts = timeouts == null ? new Timeouts(Duration.ofSeconds(15), Duration.ofSeconds(5)) : timeouts;
        success = success == null ? List.of() : List.copyOf(success);
        if (success.stream().anyMatch(code -> code < 200 || code > 599))
            throw invalid("the status codes of success must be between 200 and 599");
        if (callback != null && (callback.compareTo(Duration.ofSeconds(1)) < 0 || callback.compareTo(MAX_CALLBACK) > 0))
            throw invalid("callback must be between 1 second and 30 days (was %s)".formatted(callback));
    }

    /** Returns a POST request without a body and signature, with a timeout of 15 seconds. */
    public static WebhookTarget post(String url) {
        return new WebhookTarget(
                url,
                "POST",
                Map.of(),
                Map.of(),
                null,
                "",
                new Timeouts(Duration.ofSeconds(15), Duration.ofSeconds(5)),
                List.of(),
                null);
    }

    public WebhookTarget method(String method) {
        return new WebhookTarget(url, method, headers, secretHeaders, secret, body, timeouts, success, callback);
    }

    /**
     * Sets the body, which is sent in UTF-8 with every attempt. Its content type is {@code application/json} unless a
     * header sets another.
     */
    public WebhookTarget body(String text) {
        return new WebhookTarget(url, method, headers, secretHeaders, secret, text, timeouts, success, callback);
    }

    public WebhookTarget header(String name, String value) {
        return new WebhookTarget(
                url, method, plus(headers, name, value), secretHeaders, secret, body, timeouts, success, callback);
    }

    /** Adds a header whose value is the secret of this name. */
    public WebhookTarget secretHeader(String name, String secretName) {
        return new WebhookTarget(
                url, method, headers, plus(secretHeaders, name, secretName), secret, body, timeouts, success, callback);
    }

    /**
     * Signs the request with the secret of this name; while the secret is being rotated, with the old and the new one.
     */
    public WebhookTarget signedWith(String secretName) {
        return new WebhookTarget(url, method, headers, secretHeaders, secretName, body, timeouts, success, callback);
    }

    public WebhookTarget timeouts(Duration total, Duration connect) {
        return new WebhookTarget(
                url, method, headers, secretHeaders, secret, body, new Timeouts(total, connect), success, callback);
    }

    /** Sets the status codes that mean success. */
    public WebhookTarget success(int... codes) {
        return new WebhookTarget(
                url,
                method,
                headers,
                secretHeaders,
                secret,
                body,
                timeouts,
                IntStream.of(codes).boxed().toList(),
                callback);
    }

    /**
     * Lets a receiver that answers 202 continue the work and call back within this time with the callback
     * token it received.
     */
    public WebhookTarget callback(Duration within) {
        return new WebhookTarget(url, method, headers, secretHeaders, secret, body, timeouts, success, within);
    }

    /** Returns the address of the request. */
    TargetAddress address() {
        return TargetAddress.parse(url);
    }

    byte[] bodyBytes() {
        return body.getBytes(UTF_8);
    }

    boolean isSuccess(int status) {
        return success.isEmpty() ? status >= 200 && status <= 299 : success.contains(status);
    }

    private static Map<String, String> plus(Map<String, String> all, String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(all);
        more.put(name, value);
        return more;
    }

    private static CarillonException invalid(String why) {
        return new CarillonException(ErrorCode.INVALID_OPTION, "Invalid webhook: %s.".formatted(why));
    }

    /** Shows neither path nor headers nor body, because each may contain a secret. */
    @Override
    public String toString() {
        return "WebhookTarget[%s %s]".formatted(method, address());
    }
}
