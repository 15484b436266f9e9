package io.carillon.server.api;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.json.JsonCodec;
import io.carillon.run.Payload;
import io.carillon.run.Target;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.webhook.WebhookTarget;
import io.carillon.webhook.Webhooks;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Converts webhook targets from and to JSON. Targets contain only the names of secrets; a plain header whose name
 * suggests a secret is rejected.
 */
final class WebhookTargetJson {
    private static final JsonCodec CODEC = new JsonCodec();
    private static final Pattern SECRET_HEADER_NAME =
            Pattern.compile("authoriz|cookie|passw|secret|credential|api-?key|token|signature");

    private WebhookTargetJson() {}

    static boolean isWebhook(Target target) {
        return isWebhook(target.kind(), target.name());
    }

    static boolean isWebhook(String kind, String name) {
        return kind.equals(Target.HANDLER) && name.equals(Webhooks.TYPE.name());
    }

    static WebhookTarget read(JsonFields fields) {
        String url = fields.required("url", fields.text("url"));
        WebhookTarget target = fields.convert("url", () -> WebhookTarget.post(url));
        target = with(fields, "method", target, fields.text("method"), WebhookTarget::method);
        target = with(fields, "headers", target, fields.textMap("headers"), WebhookTargetJson::headers);
        target = with(
                fields, "secretHeaders", target, fields.textMap("secretHeaders"), WebhookTargetJson::secretHeaders);
        target = with(fields, "secret", target, fields.text("secret"), WebhookTarget::signedWith);
        target = with(fields, "body", target, fields.text("body"), WebhookTarget::body);
        target = with(fields, "success", target, fields.integers("success"), WebhookTargetJson::success);
        target = with(fields, "callback", target, fields.duration("callback"), WebhookTarget::callback);
        Optional<JsonFields> timeouts = fields.object("timeouts");
        if (timeouts.isPresent()) target = timeouts(fields, target, timeouts.get());
        fields.refuseUnknown();
        return target;
    }

    private interface FieldSetter<T> {
        WebhookTarget apply(WebhookTarget before, T value);
    }

    private static <T> WebhookTarget with(
            JsonFields fields, String name, WebhookTarget before, Optional<T> value, FieldSetter<T> fieldSetter) {
        return value.isEmpty() ? before : fields.convert(name, () -> fieldSetter.apply(before, value.get()));
    }

    private static WebhookTarget headers(WebhookTarget before, Map<String, String> headers) {
        WebhookTarget target = before;
        for (Map.Entry<String, String> header : headers.entrySet()) {
            String name = header.getKey().toLowerCase(Locale.ROOT);
            if (SECRET_HEADER_NAME.matcher(name).find())
                throw new CarillonException(
                        ErrorCode.INVALID_OPTION,
                        "A header of this name usually contains a secret, which every reader of the run would see. "
                                + "Store the value with POST /v1/secrets and name the secret in secretHeaders.");
            if (target.headers().containsKey(name))
                throw new CarillonException(
                        ErrorCode.INVALID_OPTION,
                        "Header names must be unique, ignoring case. Remove the duplicate header.");
            target = target.header(name, header.getValue());
        }
        return target;
    }

    private static WebhookTarget secretHeaders(WebhookTarget before, Map<String, String> headers) {
        WebhookTarget target = before;
        for (Map.Entry<String, String> header : headers.entrySet())
            target = target.secretHeader(header.getKey().toLowerCase(Locale.ROOT), header.getValue());
        return target;
    }

    private static WebhookTarget success(WebhookTarget before, List<Integer> codes) {
        return before.success(codes.stream().mapToInt(Integer::intValue).toArray());
    }

    private static WebhookTarget timeouts(JsonFields fields, WebhookTarget before, JsonFields timeouts) {
        Duration total = timeouts.duration("total").orElse(before.timeouts().total());
        Duration connect = timeouts.duration("connect").orElse(before.timeouts().connect());
        timeouts.refuseUnknown();
        return fields.convert("timeouts", () -> before.timeouts(total, connect));
    }

    /** Returns the payload of runs with this target. */
    static Payload payload(WebhookTarget target) {
        return new Payload(CODEC.encode(target), CODEC.name());
    }

    /** Returns the target in a payload; empty if the payload is not a readable target. */
    static Optional<WebhookTarget> fromPayload(byte[] payload) {
        try {
            return Optional.of(CODEC.decode(payload, WebhookTarget.class));
        } catch (CarillonException other) {
            return Optional.empty();
        }
    }

    static JsonObject toJson(WebhookTarget target) {
        return new JsonObject()
                .put("url", target.url())
                .put("method", target.method())
                .put("headers", target.headers().isEmpty() ? null : target.headers())
                .put("secretHeaders", target.secretHeaders().isEmpty() ? null : target.secretHeaders())
                .put("secret", target.secret())
                .put("body", target.body().isEmpty() ? null : target.body())
                .put(
                        "timeouts",
                        new JsonObject()
                                .put("total", target.timeouts().total())
                                .put("connect", target.timeouts().connect()))
                .put("success", target.success().isEmpty() ? null : target.success())
                .put("callback", target.callback());
    }
}
