package io.carillon.server.endpoint;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.json.JsonCodec;
import io.carillon.run.Payload;
import io.carillon.run.Target;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Problem;
import io.carillon.webhook.WebhookTarget;
import io.carillon.webhook.Webhooks;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Converts webhook targets from and to JSON. Targets contain no secrets; a plain header whose name suggests a secret is
 * rejected.
 */
public final class WebhookTargetJson {
    private static final JsonCodec CODEC = new JsonCodec();
    private static final Pattern SECRET_HEADER_NAME =
            Pattern.compile("authoriz|cookie|passw|secret|credential|api-?key|token|signature");

    private WebhookTargetJson() {}

    /** The fields of a webhook besides its endpoint or URL. */
    private static final List<String> REQUEST_FIELDS =
            List.of("method", "headers", "body", "timeouts", "success", "callback");

    /** Returns whether a target is a webhook. */
    public static boolean isWebhook(Target target) {
        return isWebhook(target.kind(), target.name());
    }

    public static boolean isWebhook(String kind, String name) {
        return kind.equals(Target.HANDLER) && name.equals(Webhooks.TYPE.name());
    }

    /** Reads a target with a URL or the name of an endpoint. */
    public static WebhookTarget read(JsonFields fields) {
        Optional<String> endpoint = fields.text("endpoint");
        if (endpoint.isPresent() && fields.has("url"))
            throw Problem.invalid("/target/url", "A target has either an endpoint or a url. Leave one of them out.");
        WebhookTarget target = endpoint.isPresent()
                ? withRequestFields(fields, fields.convert("endpoint", () -> WebhookTarget.to(endpoint.get())))
                : readRequest(fields);
        target = with(fields, "body", target, fields.text("body"), WebhookTarget::body);
        fields.refuseUnknown();
        return target;
    }

    /** Rejects fields of a webhook beside a handler. Generated clients send empty ones, which say nothing. */
    public static void refuseBesideHandler(JsonFields fields) {
        for (String name : REQUEST_FIELDS)
            if (fields.jsonValue(name)
                    .filter(value -> !value.isContainer() || !value.isEmpty())
                    .isPresent())
                throw Problem.invalid(
                        "/target/" + name,
                        "This field belongs to a webhook, and the target is a handler. Leave it out, or replace the "
                                + "handler with endpoint or url.");
    }

    /** Reads the URL of a webhook and how to call it, without a body. */
    static WebhookTarget readRequest(JsonFields fields) {
        String url = fields.required("url", fields.text("url"));
        return withRequestFields(fields, fields.convert("url", () -> WebhookTarget.post(url)));
    }

    private static WebhookTarget withRequestFields(JsonFields fields, WebhookTarget before) {
        WebhookTarget target = with(fields, "method", before, fields.text("method"), WebhookTarget::method);
        target = with(fields, "headers", target, fields.textMap("headers"), WebhookTargetJson::headers);
        target = with(fields, "success", target, fields.integers("success"), WebhookTargetJson::success);
        target = with(fields, "callback", target, fields.duration("callback"), WebhookTarget::callback);
        Optional<JsonFields> timeouts = fields.object("timeouts");
        return timeouts.isPresent() ? timeouts(fields, target, timeouts.get()) : target;
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
                        "A header of this name usually contains a secret, which every reader would see. Store the "
                                + "value as a secret of an endpoint with POST /v1/endpoints.");
            if (target.headers().containsKey(name))
                throw new CarillonException(
                        ErrorCode.INVALID_OPTION,
                        "Header names must be unique, ignoring case. Remove the duplicate header.");
            target = target.header(name, header.getValue());
        }
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
    public static Payload payload(WebhookTarget target) {
        return new Payload(CODEC.encode(target), CODEC.name());
    }

    /** Returns the target in a payload; empty if the payload is not a readable target. */
    public static Optional<WebhookTarget> fromPayload(byte[] payload) {
        try {
            return Optional.of(CODEC.decode(payload, WebhookTarget.class));
        } catch (CarillonException other) {
            return Optional.empty();
        }
    }

    public static JsonObject toJson(WebhookTarget target) {
        if (target.endpoint() != null)
            return new JsonObject()
                    .put("endpoint", target.endpoint())
                    .put("headers", target.headers().isEmpty() ? null : target.headers())
                    .put("body", target.body().isEmpty() ? null : target.body());
        return putRequest(new JsonObject(), target).put("body", target.body().isEmpty() ? null : target.body());
    }

    /** Adds the fields that {@link #readRequest} reads. */
    static JsonObject putRequest(JsonObject json, WebhookTarget target) {
        return json.put("url", target.url())
                .put("method", target.method())
                .put("headers", target.headers().isEmpty() ? null : target.headers())
                .put(
                        "timeouts",
                        new JsonObject()
                                .put("total", target.timeouts().total())
                                .put("connect", target.timeouts().connect()))
                .put("success", target.success().isEmpty() ? null : target.success())
                .put("callback", target.callback());
    }
}
