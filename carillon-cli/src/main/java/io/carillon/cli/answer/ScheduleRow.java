package io.carillon.cli.answer;

import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** A schedule as a row of a table, with one word for its state. */
public final class ScheduleRow {
    /** The columns of a list of schedules. */
    public static final List<String> COLUMNS =
            List.of("name", "state", "nextRun", "lastRun", "target", "owner", "description");

    private static final Set<String> FAILED = Set.of("dead", "quarantined");

    private ScheduleRow() {}

    /** Returns the row of a schedule. */
    public static JsonNode of(JsonNode schedule) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("name", schedule.path("name").stringValue(""))
                .put("state", state(schedule))
                .put("nextRun", schedule.path("nextRuns").path(0).stringValue("-"))
                .put("lastRun", schedule.path("lastRun").path("state").stringValue("-"))
                .put("owner", schedule.path("owner").stringValue("").equals("code") ? "code" : "-")
                .put("description", schedule.path("description").stringValue("-"))
                .set("target", schedule.path("target"));
    }

    private static String state(JsonNode schedule) {
        if (schedule.has("unreadable")) return "unreadable";
        if (schedule.hasNonNull("paused")) return paused(schedule.path("paused"));
        if (schedule.path("nextRuns").isEmpty()) return "finished";
        return FAILED.contains(schedule.path("lastRun").path("state").stringValue("")) ? "failing" : "active";
    }

    /** Returns the state of something paused, with the reason and the end of the pause if they are known. */
    public static String paused(JsonNode pause) {
        String reason = pause.path("reason").stringValue("");
        String until = pause.path("until").stringValue("");
        return "paused" + (reason.isEmpty() ? "" : ": " + reason) + (until.isEmpty() ? "" : " (until " + until + ")");
    }
}
