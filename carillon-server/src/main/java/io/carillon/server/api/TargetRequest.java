package io.carillon.server.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.Runs;
import io.carillon.internal.value.Names;
import io.carillon.run.Enqueue;
import io.carillon.run.Payload;
import io.carillon.run.Run;
import io.carillon.run.Target;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.server.endpoint.WebhookTargetJson;
import io.carillon.server.event.EventInput;
import io.carillon.server.event.EventTarget;
import io.carillon.server.event.ReservedHandlers;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.KeyLimits;
import io.carillon.server.http.Problem;
import io.carillon.server.redaction.PayloadRedaction;
import io.carillon.server.store.EndpointRepository;
import io.carillon.server.store.StoredEndpoint;
import io.carillon.webhook.Endpoint;
import io.carillon.webhook.WebhookTarget;
import io.carillon.webhook.Webhooks;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The requested target of a run: a handler, or a webhook or an event, which is stored as the payload of the run.
 *
 * @param webhook empty if the target is not a webhook
 * @param event empty if the target is not an event; without its data
 */
record TargetRequest(Target target, Optional<WebhookTarget> webhook, Optional<EventTarget> event) {
    static TargetRequest handler(String name) {
        ReservedHandlers.refuse(name);
        return new TargetRequest(Target.handler(name), Optional.empty(), Optional.empty());
    }

    static TargetRequest webhook(WebhookTarget target) {
        return new TargetRequest(Target.handler(Webhooks.TYPE.name()), Optional.of(target), Optional.empty());
    }

    static TargetRequest event(EventTarget event) {
        return new TargetRequest(Target.handler(EventTarget.HANDLER), Optional.empty(), Optional.of(event));
    }

    /** Returns the target of the runs of a schedule. */
    TargetRequest ofSchedule(String name) {
        return new TargetRequest(target, webhook, event.map(published -> published.ofSchedule(name)));
    }

    /** Returns whether the run calls an endpoint, and so uses the queue of the endpoint. */
    boolean isToEndpoint() {
        return webhook.isPresent() && webhook.get().endpoint() != null;
    }

    /** Returns the object of the audit entry. It never contains the path of a URL, which may contain a secret. */
    String auditObject() {
        if (event.isPresent()) return "topic/" + event.get().topic();
        if (webhook.isEmpty()) return "handler/" + target.name();
        String url = webhook.get().url();
        return url == null ? "endpoint/" + webhook.get().endpoint() : "webhook/" + Endpoint.originOf(url);
    }

    /**
     * Returns the payload of the run. For a webhook, the payload of the request is the body that the webhook sends; for
     * an event, its data.
     */
    Payload payload(JsonFields body) {
        if (event.isPresent())
            return event.get().withData(EventInput.data(body, "payload")).runPayload();
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

    /** Rejects a target that a restricted key may not use in this queue; null is the default queue. */
    void checkRestriction(KeyLimits limits, @Nullable String queue) {
        limits.require(queue, target.name());
        if (event.isPresent()) limits.requireWholeProject("Events belong to the whole project.");
    }

    /**
     * Rejects a webhook that the project does not allow: to an endpoint that does not exist, with a header that the
     * endpoint sets, or to a URL if the project allows endpoints only. Prevents the deletion of the endpoint until the
     * transaction ends.
     */
    void checkAllowed(WebhookRules rules) throws SQLException {
        if (webhook.isEmpty()) return;
        String name = webhook.get().endpoint();
        if (name == null) {
            if (!rules.allowAdHocUrls())
                throw Problem.invalid(
                        "/target/url",
                        "This project allows endpoints only. Create an endpoint with POST /v1/endpoints and name it in "
                                + "the field endpoint.");
            return;
        }
        StoredEndpoint endpoint = rules.endpointForUse(name)
                .orElseThrow(() -> Problem.invalid(
                        "/target/endpoint", "No endpoint has this name. Create one with POST /v1/endpoints."));
        for (String header : webhook.get().headers().keySet())
            if (endpoint.setsHeader(header))
                throw Problem.invalid(
                        "/target/headers", "The endpoint sets the header \"%s\". Leave it out.".formatted(header));
    }

    /** The webhooks that a project allows. A transaction reads each endpoint once, and prevents its deletion. */
    static final class WebhookRules {
        private final RequestExecutor.RequestTransaction transaction;
        private final EndpointRepository endpoints;
        private final Map<String, Optional<StoredEndpoint>> found = new HashMap<>();
        private @Nullable Boolean adHocUrls;

        WebhookRules(RequestExecutor executor, RequestExecutor.RequestTransaction transaction) {
            this.transaction = transaction;
            this.endpoints = new EndpointRepository(executor.context().transactions());
        }

        private boolean allowAdHocUrls() throws SQLException {
            Boolean known = adHocUrls;
            if (known == null)
                known = endpoints.allowsAdHocUrls(
                        transaction.session(), transaction.project().name());
            adHocUrls = known;
            return known;
        }

        private Optional<StoredEndpoint> endpointForUse(String name) throws SQLException {
            Optional<StoredEndpoint> known = found.get(name);
            if (known == null) {
                known = endpoints.getForUse(
                        transaction.session(), transaction.project().name(), name);
                found.put(name, known);
            }
            return known;
        }
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

    /** Returns the new payload; for a webhook, its target with the new payload as the body; for an event, its data. */
    static Payload editedPayload(Runs runs, Run run, JsonNode given) {
        Payload stored = runs.payload(run.id()).orElse(new Payload(new byte[0], "none"));
        Optional<WebhookTarget> webhook = WebhookTargetJson.isWebhook(run.target())
                ? WebhookTargetJson.fromPayload(stored.bytes())
                : Optional.empty();
        Optional<EventTarget> event =
                EventTarget.of(run.target().kind(), run.target().name(), stored.bytes());
        byte[] shown = webhook.map(target -> target.body().getBytes(UTF_8))
                .or(() -> event.map(published -> published.dataPayload().bytes()))
                .orElse(stored.bytes());
        byte[] bytes = Json.bytes(PayloadRedaction.restored(given.deepCopy(), Json.parseStored(shown)));
        if (event.isPresent())
            return event.get().withData(new Payload(bytes, "json")).runPayload();
        return webhook.map(target -> WebhookTargetJson.payload(target.body(new String(bytes, UTF_8))))
                .orElseGet(() -> new Payload(bytes, "json"));
    }

    /** A restricted key enqueues only what it may see, and does not occupy keys of runs that it may not see. */
    void checkEnqueue(KeyLimits limits, Enqueue options) {
        String handler = target().name();
        checkRestriction(limits, options.queue());
        if (options.uniqueKey() != null) limits.requireUniqueKey(isToEndpoint() ? options.queue() : null, handler);
        Enqueue.KeyLimit keyLimit = options.keyLimit();
        if (keyLimit != null) limits.requireLimitKey(options.queue(), handler, keyLimit.key());
    }
}
