package io.carillon.server.api;

import io.carillon.run.Payload;
import io.carillon.run.Target;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.Problem;
import io.carillon.server.store.SecretRepository;
import io.carillon.webhook.WebhookTarget;
import io.carillon.webhook.Webhooks;
import io.carillon.webhook.guard.TargetAddress;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;

/**
 * The requested target of a run: a handler, or a webhook, which is stored as the payload of the run.
 *
 * @param webhook empty if the target is a handler
 */
record TargetRequest(Target target, Optional<WebhookTarget> webhook) {
    static TargetRequest handler(String name) {
        if (name.equals(Webhooks.TYPE.name()))
            throw Problem.invalid(
                    "/target/handler",
                    "This handler name is reserved. To call a webhook, set the field url of the target.");
        return new TargetRequest(Target.handler(name), Optional.empty());
    }

    static TargetRequest webhook(WebhookTarget target) {
        return new TargetRequest(Target.handler(Webhooks.TYPE.name()), Optional.of(target));
    }

    /** Returns the object of the audit entry. It never contains the path of a URL, which may contain a secret. */
    String auditObject() {
        return webhook.map(called -> "webhook/" + TargetAddress.parse(called.url()))
                .orElse("handler/" + target.name());
    }

    /**
     * Returns the payload of the run. For a webhook, the payload of the request is the body that the webhook sends.
     */
    Payload payload(JsonFields body) {
        if (webhook.isEmpty()) return ScheduleParser.payload(body);
        WebhookTarget called = webhook.get();
        return body.convert(
                "payload",
                () -> WebhookTargetJson.payload(body.jsonValue("payload")
                        .map(node -> {
                            if (!called.body().isEmpty())
                                throw Problem.invalid(
                                        "/payload", "The target has a body. Leave out the payload or the body.");
                            return called.body(new String(Json.bytes(node), StandardCharsets.UTF_8));
                        })
                        .orElse(called)));
    }

    /** Rejects a webhook that names a secret that the project does not have: every delivery would fail. */
    void checkSecretsExist(RequestExecutor executor, RequestExecutor.RequestTransaction transaction)
            throws SQLException {
        if (webhook.isEmpty()) return;
        String secret = webhook.get().secret();
        if (secret != null
                && !findSecret(executor, transaction, secret)
                        .map(SecretRepository.StoredSecret::signing)
                        .orElse(false))
            throw Problem.invalid(
                    "/target/secret", "No signing secret has this name. Create one with POST /v1/secrets.");
        for (Map.Entry<String, String> header : webhook.get().secretHeaders().entrySet())
            if (findSecret(executor, transaction, header.getValue()).isEmpty())
                throw Problem.invalid(
                        "/target/secretHeaders/" + header.getKey(),
                        "No secret has this name. Create one with POST /v1/secrets.");
    }

    private static Optional<SecretRepository.StoredSecret> findSecret(
            RequestExecutor executor, RequestExecutor.RequestTransaction transaction, String name) throws SQLException {
        return executor.context()
                .webhooks()
                .secretStore()
                .repository()
                .get(transaction.session(), transaction.project().name(), name);
    }
}
