package io.carillon.server.event;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.event.Event;
import io.carillon.event.EventId;
import io.carillon.event.PublishResult;
import io.carillon.event.TopicInfo;
import io.carillon.run.Payload;
import io.carillon.run.Run;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Problem;
import io.carillon.server.redaction.PayloadRedaction;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Converts events to JSON. Readers see data without the fields whose names suggest a secret, like payloads of runs. */
public final class EventJson {
    private EventJson() {}

    public static JsonObject toJson(Event<Payload> event) {
        return new JsonObject()
                .put("id", event.id().toString())
                .put("topic", event.topic())
                .put("type", event.type())
                .put("key", event.key())
                .put("version", event.version() == 0 ? null : event.version())
                .put("publishedAt", event.publishedAt())
                .put("schedule", event.schedule())
                .put("plannedAt", event.plannedAt())
                .put("headers", headers(event.headers()))
                .put("data", data(event.data()));
    }

    /** Returns the headers without the values of those whose name suggests a secret; null if there are none. */
    private static @Nullable Object headers(Map<String, String> headers) {
        if (headers.isEmpty()) return null;
        JsonObject all = new JsonObject();
        headers.forEach(all::put);
        return Json.parseStored(Json.text(all).getBytes(UTF_8))
                .map(PayloadRedaction::redacted)
                .orElse(null);
    }

    /** Returns JSON data without secrets; for any other codec, only the codec and the size. */
    private static @Nullable Object data(Payload data) {
        if (!data.codec().equals("json"))
            return new JsonObject().put("codec", data.codec()).put("bytes", data.bytes().length);
        return Json.parseStored(data.bytes()).map(PayloadRedaction::redacted).orElse(null);
    }

    /** Returns the path of an event. */
    public static String path(EventId event) {
        return "/v1/events/" + event;
    }

    /** Converts a run that delivers an event. */
    public static JsonObject delivery(Run run) {
        return new JsonObject()
                .put("subscription", subscriptionOf(run))
                .put("run", run.id().toString())
                .put("state", run.state().text())
                .put("queue", run.queue())
                .put(
                        "target",
                        new JsonObject().put(run.target().kind(), run.target().name()))
                .put("attempt", run.attempt())
                .put("failures", run.failures())
                .put("createdAt", run.instants().createdAt())
                .put("endedAt", run.instants().endedAt())
                .put("lastError", run.details().lastError());
    }

    /** The unique key of the run has the name of the subscription, unless that is the name of the handler. */
    private static String subscriptionOf(Run run) {
        String key = String.valueOf(run.details().uniqueKey());
        int name = key.indexOf(':', key.indexOf(':') + 1);
        return name < 0 ? run.target().name() : key.substring(name + 1);
    }

    public static JsonObject toJson(TopicInfo topic) {
        return new JsonObject()
                .put("name", topic.name())
                .put("lastMinute", topic.lastMinute())
                .put("more", topic.lastMinute() >= TopicInfo.MAX_COUNT)
                .put("lastPublishedAt", topic.lastPublishedAt());
    }

    /** Returns the id of the stored event; throws a problem if the result is a conflict. */
    public static EventId requireStored(PublishResult result) {
        if (result instanceof PublishResult.VersionConflict conflict) throw conflict(conflict);
        if (result instanceof PublishResult.Duplicate duplicate) return duplicate.id();
        return ((PublishResult.Published) result).id();
    }

    /** Converts the result of publishing an event that is stored. */
    public static JsonObject toJson(PublishResult result) {
        EventId event = requireStored(result);
        boolean published = result instanceof PublishResult.Published;
        long version = result instanceof PublishResult.Published stored ? stored.version() : 0;
        return new JsonObject()
                .put("event", event.toString())
                .put("published", published)
                .put("version", version == 0 ? null : version);
    }

    private static Problem conflict(PublishResult.VersionConflict conflict) {
        return Problem.versionConflict(
                conflict.expected(),
                conflict.actual(),
                ("The key \"%s\" has version %d, not %d. Nothing was published. Read the events of the key, and publish"
                                + " with the version that you have seen.")
                        .formatted(conflict.key(), conflict.actual(), conflict.expected()));
    }
}
