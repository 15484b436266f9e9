package io.carillon.webhook;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Names;
import io.carillon.webhook.guard.Endpoint;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What a webhook run calls: the payload of its run or schedule. It checks itself; whether its host may be reached is decided at each delivery. Secrets are named,
 * never held. In JSON only {@code url} is required; what is missing has the values of {@link #post}. Immutable; each method returns a changed copy.
 *
 * @param headers sent as they are
 * @param secretHeaders header to the name of the secret that is its value
 * @param secret the name of the signing secret; null: unsigned
 * @param success status codes that mean delivered; empty: 200 to 299
 * @param callback how long a receiver that answers 202 may take to call back; null: 202 is an answer like any other
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
    private static final Duration LONGEST_CALLBACK = Duration.ofDays(30);
    private static final int LONGEST_BODY = 256 * 1024;

    /** How long a delivery may take altogether, and how long connecting may. */
    public record Timeouts(Duration total, Duration connect) {
        private static final Duration LONGEST = Duration.ofSeconds(60);

        public Timeouts {
            total = total == null ? Duration.ofSeconds(15) : total;
            connect = connect == null ? Duration.ofSeconds(5) : connect;
            if (total.compareTo(Duration.ofMillis(100)) < 0 || total.compareTo(LONGEST) > 0)
                throw invalid("a timeout of %s is outside 0.1..60 seconds".formatted(total));
            if (connect.compareTo(Duration.ofMillis(100)) < 0 || connect.compareTo(LONGEST) > 0)
                throw invalid("a connect timeout of %s is outside 0.1..60 seconds".formatted(connect));
        }
    }

    /** What JSON leaves out arrives as null. */
    public WebhookTarget {
        if (url == null) throw invalid("it has no url");
        Endpoint.of(url);
        method = method == null ? "POST" : method.toUpperCase(Locale.ROOT);
        if (!METHODS.contains(method)) throw invalid("its method is none of " + METHODS);
        headers = RequestHeaders.checked(headers == null ? Map.of() : headers);
        secretHeaders = RequestHeaders.checked(secretHeaders == null ? Map.of() : secretHeaders);
        secretHeaders.values().forEach(name -> Names.check("secret", name));
        if (secret != null) Names.check("secret", secret);
        body = body == null ? "" : body;
        if (body.length() > LONGEST_BODY) throw invalid("its body has more than %d characters".formatted(LONGEST_BODY));
        timeouts = timeouts == null ? new Timeouts(Duration.ofSeconds(15), Duration.ofSeconds(5)) : timeouts;
        success = success == null ? List.of() : List.copyOf(success);
        if (success.stream().anyMatch(code -> code < 200 || code > 599))
            throw invalid("a status code that means success is outside 200..599");
        if (callback != null
                && (callback.compareTo(Duration.ofSeconds(1)) < 0 || callback.compareTo(LONGEST_CALLBACK) > 0))
            throw invalid("a callback after %s is outside 1 second..30 days".formatted(callback));
    }

    /** A POST without a body, signed by nobody, in 15 seconds at most. */
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

    /** The body, sent as these bytes in UTF-8 at every attempt; {@code application/json} unless a header says otherwise. */
    public WebhookTarget body(String text) {
        return new WebhookTarget(url, method, headers, secretHeaders, secret, text, timeouts, success, callback);
    }

    public WebhookTarget header(String name, String value) {
        return new WebhookTarget(
                url, method, plus(headers, name, value), secretHeaders, secret, body, timeouts, success, callback);
    }

    /** A header whose value is a secret, by the secret's name. */
    public WebhookTarget secretHeader(String name, String secretName) {
        return new WebhookTarget(
                url, method, headers, plus(secretHeaders, name, secretName), secret, body, timeouts, success, callback);
    }

    /** Signed with the secret of this name; during its rotation with the old and the new one. */
    public WebhookTarget signedWith(String secretName) {
        return new WebhookTarget(url, method, headers, secretHeaders, secretName, body, timeouts, success, callback);
    }

    public WebhookTarget timeouts(Duration total, Duration connect) {
        return new WebhookTarget(
                url, method, headers, secretHeaders, secret, body, new Timeouts(total, connect), success, callback);
    }

    /** Exactly these status codes mean delivered. */
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

    /** A receiver that answers 202 goes on with the work, and calls back within this time with the token it was sent. */
    public WebhookTarget callback(Duration within) {
        return new WebhookTarget(url, method, headers, secretHeaders, secret, body, timeouts, success, within);
    }

    /** Where it goes. */
    Endpoint endpoint() {
        return Endpoint.of(url);
    }

    byte[] bytes() {
        return body.getBytes(UTF_8);
    }

    boolean succeeds(int status) {
        return success.isEmpty() ? status >= 200 && status <= 299 : success.contains(status);
    }

    private static Map<String, String> plus(Map<String, String> all, String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(all);
        more.put(name, value);
        return more;
    }

    private static CarillonException invalid(String why) {
        return new CarillonException(
                ErrorCode.INVALID_OPTION, "The webhook is refused: %s. Choose what is allowed.".formatted(why));
    }

    /** Neither path nor headers nor body: each may hold a secret. */
    @Override
    public String toString() {
        return "WebhookTarget[%s %s]".formatted(method, endpoint());
    }
}
