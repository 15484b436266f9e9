package io.carillon.cli.remote;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.AllowedValues;
import io.carillon.cli.remote.flags.ScheduleFlags;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Changes parts of a schedule. The rest stays as it was read, and a concurrent change of another client
 * is not overwritten.
 */
final class ScheduleUpdater {
    /** The options of the timing that can be cleared. */
    private static final List<String> TIMING_FLAGS =
            List.of("from", "until", "except", "max-runs", "jitter", "gap", "repeat");

    private static final List<String> POLICY_FLAGS = List.of(
            "missed",
            "overlap",
            "grace",
            "catch-up",
            "missed-cap",
            "missed-spread",
            "pause-after",
            "queue",
            "priority",
            "retry",
            "attempt-timeout");

    private final ApiClient apiClient;
    private final Printer printer;

    ScheduleUpdater(ApiClient apiClient, Printer printer) {
        this.apiClient = apiClient;
        this.printer = printer;
    }

    JsonNode update(String name, ScheduleFlags flags, List<String> cleared) {
        JsonNode there = apiClient.get(ApiClient.path("schedules", name));
        flags.requireReplacements(there);
        ObjectNode body = ScheduleApplier.withoutReadOnlyFields(there);
        for (String flag : cleared) clear(body, flag);
        flags.applyTo(body);
        JsonNode changed = apiClient
                .put(ApiClient.path("schedules", name), body, Map.of("If-Match", "\"" + there.path("version") + "\""))
                .body();
        boolean same = changed.path("version").equals(there.path("version"));
        printer.printResult("%s %s".formatted(name, same ? "unchanged" : "changed"), changed, "name");
        return changed;
    }

    private static void clear(ObjectNode body, String flag) {
        List<String> known = new java.util.ArrayList<>(TIMING_FLAGS);
        known.addAll(POLICY_FLAGS);
        String word = AllowedValues.require("--clear", flag.startsWith("--") ? flag.substring(2) : flag, known);
        // --timeout is the maximum wait for a response, in all commands.
        if (word.equals("attempt-timeout")) body.remove("timeout");
        else if (!TIMING_FLAGS.contains(word)) body.remove(fieldName(word));
        else if (body.get("when") instanceof ObjectNode when) when.remove(fieldName(word));
    }

    /** Returns the REST field of an option: {@code maxRuns} for {@code max-runs}. */
    private static String fieldName(String word) {
        StringBuilder name = new StringBuilder();
        for (String part : word.split("-", -1))
            name.append(name.isEmpty() ? part : part.substring(0, 1).toUpperCase(Locale.ROOT) + part.substring(1));
        return name.toString();
    }
}
