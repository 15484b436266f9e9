package io.carillon.server.api;

import io.carillon.json.JsonCodec;
import io.carillon.run.Payload;
import io.carillon.run.Target;
import io.carillon.server.http.Doc;
import io.carillon.server.http.Fields;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.webhook.WebhookTarget;
import io.carillon.webhook.Webhooks;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** Reads and shows what a webhook calls, in the words of its payload. Secrets are named, never held: what looks like one among the plain headers is refused. */
final class WebhookForm {
    private static final JsonCodec CODEC = new JsonCodec();
    private static final Pattern SECRET =
            Pattern.compile("authoriz|cookie|passw|secret|credential|api-?key|token|signature");

    private WebhookForm() {}

    static boolean isOne(Target target) {
        return isOne(target.kind(), target.name());
    }

    static boolean isOne(String kind, String name) {
        return kind.equals(Target.HANDLER) && name.equals(Webhooks.TYPE.name());
    }

    static WebhookTarget read(Fields form) {
        String url = form.required("url", form.text("url"));
        WebhookTarget target = form.making("url", () -> WebhookTarget.post(url));
        target = with(form, "method", target, form.text("method"), WebhookTarget::method);
        target = with(form, "headers", target, form.textsByName("headers"), WebhookForm::headers);
        target = with(form, "secretHeaders", target, form.textsByName("secretHeaders"), WebhookForm::secretHeaders);
        target = with(form, "secret", target, form.text("secret"), WebhookTarget::signedWith);
        target = with(form, "body", target, form.text("body"), WebhookTarget::body);
        target = with(form, "success", target, form.integers("success"), WebhookForm::success);
        target = with(form, "callback", target, form.duration("callback"), WebhookTarget::callback);
        Optional<Fields> timeouts = form.object("timeouts");
        if (timeouts.isPresent()) target = timed(form, target, timeouts.get());
        form.done();
        return target;
    }

    private interface Change<T> {
        WebhookTarget of(WebhookTarget before, T value);
    }

    private static <T> WebhookTarget with(
            Fields form, String name, WebhookTarget before, Optional<T> value, Change<T> change) {
        return value.isEmpty() ? before : form.making(name, () -> change.of(before, value.get()));
    }

    private static WebhookTarget headers(WebhookTarget before, Map<String, String> headers) {
        WebhookTarget target = before;
        for (Map.Entry<String, String> header : headers.entrySet()) {
            String name = header.getKey().toLowerCase(Locale.ROOT);
            if (SECRET.matcher(name).find())
                throw new CarillonException(
                        ErrorCode.INVALID_OPTION,
                        "A header of this name holds a secret, which everybody who reads would see. Store it by POST /v1/secrets, and name it in secretHeaders.");
            if (target.headers().containsKey(name))
                throw new CarillonException(
                        ErrorCode.INVALID_OPTION, "A header is there twice in different letters. Remove one.");
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

    private static WebhookTarget timed(Fields form, WebhookTarget before, Fields timeouts) {
        Duration total = timeouts.duration("total").orElse(before.timeouts().total());
        Duration connect = timeouts.duration("connect").orElse(before.timeouts().connect());
        timeouts.done();
        return form.making("timeouts", () -> before.timeouts(total, connect));
    }

    /** The payload of its runs. */
    static Payload payload(WebhookTarget target) {
        return new Payload(CODEC.encode(target), CODEC.name());
    }

    /** What a payload says to call; empty: it is none that can be read. */
    static Optional<WebhookTarget> stored(byte[] payload) {
        try {
            return Optional.of(CODEC.decode(payload, WebhookTarget.class));
        } catch (CarillonException other) {
            return Optional.empty();
        }
    }

    static Doc shown(WebhookTarget target) {
        return new Doc()
                .put("url", target.url())
                .put("method", target.method())
                .put("headers", target.headers().isEmpty() ? null : target.headers())
                .put("secretHeaders", target.secretHeaders().isEmpty() ? null : target.secretHeaders())
                .put("secret", target.secret())
                .put("body", target.body().isEmpty() ? null : target.body())
                .put(
                        "timeouts",
                        new Doc()
                                .put("total", target.timeouts().total())
                                .put("connect", target.timeouts().connect()))
                .put("success", target.success().isEmpty() ? null : target.success())
                .put("callback", target.callback());
    }
}
