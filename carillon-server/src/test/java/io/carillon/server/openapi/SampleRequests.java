package io.carillon.server.openapi;

import io.carillon.server.access.PlaintextApiKey;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** Sample requests for every declared operation: paths with values for their {name} segments, and valid bodies. */
public final class SampleRequests {
    private static final String USER = "usr_00000000000000000000000000";
    private static final String SESSION = "ses_00000000000000000000000000";
    private static final String RUN = "run_00000000000000000000000000";
    private static final String EVENT = "evt_00000000000000000000000000";

    private static final Map<String, String> BODIES = Map.ofEntries(
            Map.entry("previewSchedule", "{\"when\":{\"cron\":\"0 2 * * *\"}}"),
            Map.entry(
                    "putSchedule",
                    "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"a\"},\"payload\":{\"a\":1}}"),
            Map.entry(
                    "putSchedules",
                    "{\"schedules\":[{\"name\":\"sample\",\"when\":{\"cron\":\"0 2 * * *\"},"
                            + "\"target\":{\"handler\":\"a\"}}]}"),
            Map.entry("pauseSchedule", "{\"reason\":\"r\"}"),
            Map.entry("resumeSchedule", "{}"),
            Map.entry("triggerSchedule", "{}"),
            Map.entry("backfillSchedule", "{\"from\":\"2026-02-01T00:00:00Z\",\"to\":\"2026-02-03T00:00:00Z\"}"),
            Map.entry("enqueue", "{\"target\":{\"handler\":\"a\"},\"payload\":{\"a\":1},\"after\":\"1h\"}"),
            Map.entry("enqueueBatch", "{\"target\":{\"handler\":\"a\"},\"runs\":[{\"payload\":1}],\"after\":\"1h\"}"),
            Map.entry("cancelRun", "{\"reason\":\"r\"}"),
            Map.entry("redriveRun", "{}"),
            Map.entry("executeRun", "{}"),
            Map.entry("signalRun", "{\"name\":\"approval\"}"),
            Map.entry("rescheduleRun", "{\"at\":\"2999-01-01T00:00:00Z\"}"),
            Map.entry("limitQueue", "{\"maxRunning\":5}"),
            Map.entry("setQueueWeight", "{\"weight\":5}"),
            Map.entry("setQueueBreaker", "{\"enabled\":true}"),
            Map.entry("pauseQueue", "{\"reason\":\"r\"}"),
            Map.entry("resumeQueue", "{}"),
            Map.entry("bulkAction", "{\"action\":\"cancel\",\"filter\":{\"state\":\"waiting\"}}"),
            Map.entry("abortBulkAction", "{}"),
            Map.entry("createKey", "{\"name\":\"k\",\"scopes\":[\"read\"]}"),
            Map.entry(
                    "revokeKeyByValue",
                    "{\"key\":\"" + new PlaintextApiKey("0".repeat(12), "0".repeat(32)).text() + "\"}"),
            Map.entry("rotateKey", "{\"overlap\":\"1h\"}"),
            Map.entry("createProject", "{\"name\":\"sample\"}"),
            Map.entry("limitProject", "{\"maxSchedules\":100}"),
            Map.entry("runDue", "{\"budget\":\"1s\"}"),
            Map.entry("replayRun", "{}"),
            Map.entry("completeRun", "{\"attempt\":1,\"token\":\"" + "t".repeat(43) + "\",\"error\":\"e\"}"),
            Map.entry(
                    "testWebhook",
                    "{\"target\":{\"url\":\"http://127.0.0.1:1/x\",\"method\":\"PUT\",\"headers\":{\"x-a\":\"b\"}},"
                            + "\"payload\":{\"a\":1}}"),
            Map.entry("addMember", "{\"user\":\"usr_00000000000000000000000000\",\"role\":\"viewer\"}"),
            Map.entry("changeMember", "{\"role\":\"viewer\"}"),
            Map.entry("startSession", "{}"),
            Map.entry("redeemLoginLink", "{\"token\":\"t\"}"),
            Map.entry("changeProject", "{\"allowAdHocUrls\":true}"),
            Map.entry(
                    "createEndpoint",
                    "{\"name\":\"sample\",\"url\":\"https://a.example/x\",\"method\":\"PUT\","
                            + "\"secrets\":[{\"name\":\"s\",\"header\":\"x-s\",\"value\":\"v\"}],"
                            + "\"headers\":{\"x-a\":\"b\"},\"limits\":{\"maxRunning\":5}}"),
            Map.entry("updateEndpoint", "{\"url\":\"https://a.example/x\",\"success\":[200]}"),
            Map.entry("rotateEndpoint", "{\"secret\":\"s\",\"overlap\":\"1h\"}"),
            Map.entry("reEncryptSecrets", "{\"after\":\"a/b\"}"),
            Map.entry(
                    "publishEvent",
                    "{\"topic\":\"sample\",\"type\":\"a.b\",\"key\":\"k\",\"data\":{\"a\":1},\"publishId\":\"p\","
                            + "\"versions\":false}"),
            Map.entry(
                    "publishEvents",
                    "{\"events\":[{\"topic\":\"sample\",\"type\":\"a.b\"},{\"topic\":\"sample\",\"type\":\"a.b\","
                            + "\"key\":\"k\",\"data\":[1]}]}"),
            Map.entry(
                    "makeSubscription",
                    "{\"name\":\"sample\",\"topic\":\"sample\",\"types\":[\"a.*\"],\"target\":{\"handler\":\"a\"},"
                            + "\"inOrder\":true,\"queue\":\"q\",\"priority\":\"low\",\"start\":\"now\"}"),
            Map.entry("updateSubscription", "{\"topic\":\"*\",\"target\":{\"handler\":\"a\"}}"),
            Map.entry("pauseSubscription", "{\"reason\":\"r\"}"),
            Map.entry("resumeSubscription", "{}"),
            Map.entry("replaySubscription", "{\"from\":\"2026-02-01T00:00:00Z\",\"to\":\"2026-02-03T00:00:00Z\"}"),
            Map.entry("skipEvent", "{\"event\":\"evt_00000000000000000000000000\"}"),
            Map.entry("retryRelayedEvent", "{\"event\":\"evt_00000000000000000000000000\"}"),
            Map.entry("skipRelayedEvent", "{\"event\":\"evt_00000000000000000000000000\"}"));

    private SampleRequests() {}

    /** Returns the path with this name, or the id of an unknown run, in its segments. */
    public static String path(OpenApiDescription.Operation operation, String name) {
        return path(operation, name, RUN);
    }

    public static String path(OpenApiDescription.Operation operation, String name, String run) {
        String value = name;
        if (operation.path().startsWith("/v1/runs/")) value = run;
        if (operation.path().startsWith("/v1/events/") && !name.startsWith("evt_")) value = EVENT;
        if (operation.path().startsWith("/v1/members/") && !name.startsWith("usr_")) value = USER;
        if (operation.path().startsWith("/v1/sessions/")) value = SESSION;
        return operation.path().replaceAll("\\{[a-z]+}", value);
    }

    /** Returns the path with this value in each query parameter that is required. */
    public static String withRequiredQuery(OpenApiDescription.Operation operation, String path, String value) {
        StringBuilder query = new StringBuilder();
        for (JsonNode parameter : operation.node().path("parameters"))
            if (parameter.path("in").stringValue("").equals("query")
                    && parameter.path("required").booleanValue(false))
                query.append(query.isEmpty() ? '?' : '&')
                        .append(parameter.path("name").stringValue(""))
                        .append('=')
                        .append(value);
        return path + query;
    }

    /** Returns a valid body; null if the operation has none. */
    public static String body(OpenApiDescription.Operation operation) {
        String id = operation.node().path("operationId").stringValue("");
        if (!operation.hasBody()) return null;
        String body = BODIES.get(id);
        if (body == null) throw new AssertionError("SampleRequests has no sample body for " + id);
        return body;
    }

    /** Returns a body that is rejected before anything changes; null if the operation has none. */
    public static String invalidBody(OpenApiDescription.Operation operation) {
        return operation.hasBody() ? "{\"nonsense\":true}" : null;
    }
}
