package io.carillon.server.api;

import io.carillon.internal.value.Names;
import io.carillon.run.Enqueue;
import io.carillon.run.Payload;
import io.carillon.run.Target;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.server.endpoint.WebhookTargetJson;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.Problem;
import io.carillon.server.store.EndpointRepository;
import io.carillon.server.store.StoredEndpoint;
import io.carillon.webhook.Endpoint;
import io.carillon.webhook.WebhookTarget;
import io.carillon.webhook.Webhooks;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

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
                    "This handler name is reserved. To call a webhook, set the field endpoint or url of the target.");
        return new TargetRequest(Target.handler(name), Optional.empty());
    }

    static TargetRequest webhook(WebhookTarget target) {
        return new TargetRequest(Target.handler(Webhooks.TYPE.name()), Optional.of(target));
    }

    /** Returns the object of the audit entry. It never contains the path of a URL, which may contain a secret. */
    String auditObject() {
        if (webhook.isEmpty()) return "handler/" + target.name();
        String url = webhook.get().url();
        return url == null ? "endpoint/" + webhook.get().endpoint() : "webhook/" + Endpoint.originOf(url);
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

    /**
     * Rejects a webhook that the project does not allow: to an endpoint that does not exist, with a header that the
     * endpoint sets, or to a URL if the project allows endpoints only. Prevents the deletion of the endpoint until the
     * transaction ends.
     */
    void checkAllowed(RequestExecutor executor, RequestExecutor.RequestTransaction transaction) throws SQLException {
        if (webhook.isEmpty()) return;
        EndpointRepository endpoints =
                executor.context().webhooks().endpointStore().endpoints();
        String project = transaction.project().name();
        String name = webhook.get().endpoint();
        if (name == null) {
            if (!endpoints.allowsAdHocUrls(transaction.session(), project))
                throw Problem.invalid(
                        "/target/url",
                        "This project allows endpoints only. Create an endpoint with POST /v1/endpoints and name it in "
                                + "the field endpoint.");
            return;
        }
        StoredEndpoint endpoint = endpoints
                .getForUse(transaction.session(), project, name)
                .orElseThrow(() -> Problem.invalid(
                        "/target/endpoint", "No endpoint has this name. Create one with POST /v1/endpoints."));
        for (String header : webhook.get().headers().keySet())
            if (endpoint.setsHeader(header))
                throw Problem.invalid(
                        "/target/headers", "The endpoint sets the header \"%s\". Leave it out.".formatted(header));
    }

    /** Returns the options with the queue of the endpoint. Rejects the queue of an endpoint for other targets. */
    Enqueue withQueue(Enqueue options) {
        String queue = checkedQueue(options.queue());
        return queue == null ? options : options.queue(queue);
    }

    /** Like {@link #withQueue(Enqueue)}, for a schedule. */
    ScheduleOptions withQueue(ScheduleOptions options) {
        String queue = checkedQueue(options.queue());
        return queue == null ? options : options.queue(queue);
    }

    private @Nullable String checkedQueue(@Nullable String given) {
        String endpoint = webhook.isPresent() ? webhook.get().endpoint() : null;
        if (endpoint != null) {
            String own = Endpoint.queueOf(endpoint);
            if (given == null || given.equals(own)) return own;
            throw Problem.invalid(
                    "/queue", "Runs of an endpoint always use its queue \"%s\". Leave the queue out.".formatted(own));
        }
        // Without a queue, the queue of a handler may have the name of the handler.
        String queue = given == null ? target.name() : given;
        if (queue.startsWith(Names.ENDPOINT_QUEUE_PREFIX))
            throw Problem.invalid(
                    given == null ? "/target/handler" : "/queue",
                    "Queues that start with \"%s\" belong to endpoints. Choose another queue."
                            .formatted(Names.ENDPOINT_QUEUE_PREFIX));
        return given;
    }
}
