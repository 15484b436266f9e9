package io.carillon.cli.remote;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.Client;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Changes a part of a schedule: the rest stays as it was when it was read, and whoever changed it meanwhile is not overwritten. */
final class ScheduleUpdate {
    /** What may be left out of a schedule, in the words of the flags. */
    private static final List<String> OF_WHEN =
            List.of("from", "until", "except", "max-runs", "jitter", "gap", "repeat");

    private static final List<String> OF_POLICIES = List.of(
            "missed",
            "overlap",
            "grace",
            "catch-up",
            "missed-cap",
            "missed-spread",
            "pause-after",
            "queue",
            "priority");

    private final Client client;
    private final Printer printer;

    ScheduleUpdate(Client client, Printer printer) {
        this.client = client;
        this.printer = printer;
    }

    JsonNode one(String name, ScheduleForm form, List<String> cleared) {
        JsonNode there = client.get(Client.path("schedules", name));
        form.replaces(there);
        ObjectNode body = ScheduleApply.settable(there);
        for (String flag : cleared) clear(body, flag);
        form.over(body);
        JsonNode changed = client.put(
                        Client.path("schedules", name), body, Map.of("If-Match", "\"" + there.path("version") + "\""))
                .body();
        boolean same = changed.path("version").equals(there.path("version"));
        printer.done("%s %s".formatted(name, same ? "unchanged" : "changed"), changed, "name");
        return changed;
    }

    private static void clear(ObjectNode body, String flag) {
        List<String> known = new java.util.ArrayList<>(OF_WHEN);
        known.addAll(OF_POLICIES);
        String word = Words.one("--clear", flag.startsWith("--") ? flag.substring(2) : flag, known);
        if (!OF_WHEN.contains(word)) body.remove(field(word));
        else if (body.get("when") instanceof ObjectNode when) when.remove(field(word));
    }

    /** {@code max-runs} is the flag of {@code maxRuns}. */
    private static String field(String word) {
        StringBuilder name = new StringBuilder();
        for (String part : word.split("-", -1))
            name.append(name.isEmpty() ? part : part.substring(0, 1).toUpperCase(Locale.ROOT) + part.substring(1));
        return name.toString();
    }
}
