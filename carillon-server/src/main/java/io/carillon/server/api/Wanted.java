package io.carillon.server.api;

import io.carillon.run.Payload;
import io.carillon.run.Target;
import io.carillon.server.http.Fields;
import io.carillon.server.http.Json;
import io.carillon.server.http.Problem;
import io.carillon.server.store.SecretRepository;
import io.carillon.webhook.WebhookTarget;
import io.carillon.webhook.Webhooks;
import io.carillon.webhook.guard.Endpoint;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;

/** What a run shall do: a handler with a payload, or a webhook, whose payload says what to call. */
record Wanted(Target target, Optional<WebhookTarget> webhook) {
    static Wanted handler(String name) {
        if (name.equals(Webhooks.TYPE.name()))
            throw Problem.invalid("/target/handler", "To call a webhook, give the target its url instead.");
        return new Wanted(Target.handler(name), Optional.empty());
    }

    static Wanted webhook(WebhookTarget target) {
        return new Wanted(Target.handler(Webhooks.TYPE.name()), Optional.of(target));
    }

    /** What the audit log says it was about: never with a path, which may hold a secret. */
    String object() {
        return webhook.map(called -> "webhook/" + Endpoint.of(called.url())).orElse("handler/" + target.name());
    }

    /** What it carries. The payload given beside a webhook is the body it sends. */
    Payload payload(Fields body) {
        if (webhook.isEmpty()) return ScheduleForm.payload(body);
        WebhookTarget called = webhook.get();
        return body.making(
                "payload",
                () -> WebhookForm.payload(body.any("payload")
                        .map(node -> {
                            if (!called.body().isEmpty())
                                throw Problem.invalid("/payload", "The target has a body already. Give one of them.");
                            return called.body(new String(Json.bytes(node), StandardCharsets.UTF_8));
                        })
                        .orElse(called)));
    }

    /** Refuses a webhook that names a secret the project does not have: it would fail at each delivery. */
    void check(Deeds deeds, Deeds.Desk desk) throws SQLException {
        if (webhook.isEmpty()) return;
        String secret = webhook.get().secret();
        if (secret != null
                && !find(deeds, desk, secret)
                        .map(SecretRepository.Kept::signing)
                        .orElse(false))
            throw Problem.invalid(
                    "/target/secret", "There is no signing secret of this name. Make one by POST /v1/secrets.");
        for (Map.Entry<String, String> header : webhook.get().secretHeaders().entrySet())
            if (find(deeds, desk, header.getValue()).isEmpty())
                throw Problem.invalid(
                        "/target/secretHeaders/" + header.getKey(),
                        "There is no secret of this name. Store it by POST /v1/secrets.");
    }

    private static Optional<SecretRepository.Kept> find(Deeds deeds, Deeds.Desk desk, String name) throws SQLException {
        return deeds.house()
                .webhooks()
                .vault()
                .table()
                .get(desk.connection(), desk.project().name(), name);
    }
}
