package io.carillon.server.endpoint;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.QueueLimits;
import io.carillon.internal.value.Names;
import io.carillon.run.Retry;
import io.carillon.server.http.JsonFields;
import io.carillon.spi.Secret;
import io.carillon.webhook.Endpoint;
import io.carillon.webhook.WebhookTarget;
import io.carillon.webhook.sign.SigningSecret;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The requested state of an endpoint.
 *
 * @param request a target with the URL and without a body
 * @param retry how its runs are retried; null for the setting of the webhook handler
 * @param secrets all secrets of the endpoint; empty if the request does not mention secrets
 * @param limits the limits of its queue; empty if they do not change
 */
public record EndpointInput(
        WebhookTarget request,
        @Nullable Retry retry,
        Optional<List<SecretInput>> secrets,
        Optional<QueueLimits> limits) {
    private static final int MAX_SECRETS = 16;
    /** The size that most receivers accept. Each read of endpoints reads their headers. */
    private static final int MAX_HEADER_BYTES = 8 * 1024;

    /** The characters that a header value may contain. */
    private static final Pattern HEADER_VALUE = Pattern.compile("[\\x21-\\x7E](?:[\\x20-\\x7E]{0,1998}[\\x21-\\x7E])?");

    /**
     * One requested secret.
     *
     * @param header the header whose value it is; null if it signs requests
     * @param value empty if an existing value is kept or a signing secret is generated
     * @param algorithm how it signs; empty for HMAC if it is generated
     */
    public record SecretInput(
            String name, @Nullable String header, Optional<Secret> value, Optional<SigningAlgorithm> algorithm) {}

    /** Reads all fields of the body except {@code name}, which the caller has read. */
    public static EndpointInput read(JsonFields body) {
        WebhookTarget request = WebhookTargetJson.readRequest(body);
        Retry retry = RetryJson.readRetry(body).orElse(null);
        Optional<List<JsonFields>> given = body.objects("secrets");
        Optional<QueueLimits> limits = body.object("limits").map(fields -> limits(body, fields));
        Optional<List<SecretInput>> secrets =
                given.map(items -> items.stream().map(EndpointInput::secret).toList());
        body.refuseUnknown();
        body.convert("headers", () -> checkSize(request.headers()));
        secrets.ifPresent(all -> body.convert("secrets", () -> checkDistinct(all, request)));
        return new EndpointInput(request, retry, secrets, limits);
    }

    private static Map<String, String> checkSize(Map<String, String> headers) {
        int bytes = headers.entrySet().stream()
                .mapToInt(header -> header.getKey().length() + header.getValue().length())
                .sum();
        if (bytes > MAX_HEADER_BYTES)
            throw invalid("The headers of an endpoint may have %d bytes together, names included (were %d)."
                    .formatted(MAX_HEADER_BYTES, bytes));
        return headers;
    }

    private static QueueLimits limits(JsonFields body, JsonFields fields) {
        Optional<Integer> running = fields.integer("maxRunning");
        Optional<Double> rate = fields.decimal("perSecond");
        fields.refuseUnknown();
        return body.convert("limits", () -> new QueueLimits(running.orElse(null), rate.orElse(null)));
    }

    private static SecretInput secret(JsonFields fields) {
        String given = fields.required("name", fields.text("name"));
        String name = fields.convert("name", () -> Names.check("secret", given));
        String header = fields.text("header")
                .map(text -> fields.convert("header", () -> Endpoint.checkHeader(text)))
                .orElse(null);
        Optional<Secret> value = value(fields, header == null);
        Optional<SigningAlgorithm> algorithm = fields.enumValue("algorithm", SigningAlgorithm.class);
        algorithm.ifPresent(wanted -> checkAlgorithm(fields, wanted, header == null, value));
        fields.refuseUnknown();
        return new SecretInput(name, header, value, algorithm);
    }

    /** Rejects an algorithm for a secret that does not sign, or whose value has another algorithm. */
    public static void checkAlgorithm(
            JsonFields fields, SigningAlgorithm algorithm, boolean signing, Optional<Secret> value) {
        fields.convert("algorithm", () -> {
            if (!signing) throw invalid("The value of a header does not sign. Leave the algorithm out.");
            if (value.isPresent() && SigningAlgorithm.ofPublicKey(publicKey(value.get())) != algorithm)
                throw invalid("The value is a secret of another algorithm. Leave the algorithm or the value out.");
            return algorithm;
        });
    }

    /** Returns the public key of a signing secret; null if it has none. */
    static @Nullable String publicKey(Secret value) {
        return SigningSecret.parse(value.reveal()).publicKey().orElse(null);
    }

    /** Reads the value of a secret. A signing secret is not accepted as the value of a header, which is sent. */
    public static Optional<Secret> value(JsonFields fields, boolean signing) {
        Optional<String> text = fields.text("value");
        text.ifPresent(value -> fields.convert("value", () -> {
            if (signing) return SigningSecret.parse(value);
            if (SigningSecret.hasPrefix(value))
                throw invalid("A signing secret is never sent in a header. Leave out the header to sign with it.");
            if (!HEADER_VALUE.matcher(value).matches())
                throw invalid("The value must have between 1 and 2000 printable ASCII characters.");
            return value;
        }));
        return text.map(Secret::of);
    }

    private static List<SecretInput> checkDistinct(List<SecretInput> secrets, WebhookTarget request) {
        if (secrets.size() > MAX_SECRETS)
            throw invalid("An endpoint can have at most %d secrets.".formatted(MAX_SECRETS));
        Set<String> names = new HashSet<>();
        List<String> headers = new ArrayList<>(request.headers().keySet());
        for (SecretInput secret : secrets) {
            if (!names.add(secret.name()))
                throw invalid("Two secrets are named \"%s\". Names must be unique.".formatted(secret.name()));
            String header = secret.header();
            if (header == null) continue;
            if (headers.contains(header))
                throw invalid("The header \"%s\" is set twice. Remove one of them.".formatted(header));
            headers.add(header);
        }
        return secrets;
    }

    private static CarillonException invalid(String why) {
        return new CarillonException(ErrorCode.INVALID_OPTION, why);
    }
}
