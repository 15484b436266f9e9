package io.carillon.cli.remote;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.RemoteCommandGroup.ListRequest;
import io.carillon.cli.shell.ExitCode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Runs as a table for people: running and waiting runs, then ended runs, the one that ended last first. Ticks that are
 * planned ahead and not due yet are counted below, because they would otherwise fill the table.
 */
final class RunList {
    private static final List<String> COLUMNS = List.of("id", "state", "target", "attempt", "when", "reason");
    private static final List<String> PLANNED_COLUMNS = List.of("id", "target", "dueAt");
    private static final int PLANNED_SHOWN = 5;
    /** Why a run is parked, in words. A running run is not parked for people. */
    private static final Map<String, String> PARKED = Map.of(
            "running", "-",
            "no-handler", "no live node has its handler",
            "gate", "held by its key or the overlap policy",
            "isolated", "its node died; it will be tried alone",
            "awaiting", "waits for its callback");

    private final List<JsonNode> shown = new ArrayList<>();
    private final List<JsonNode> planned = new ArrayList<>();
    private boolean hasMore;

    private RunList(boolean hasMore) {
        this.hasMore = hasMore;
    }

    /** Prints the runs that match the query once, or again on each change. */
    static int print(RemoteCommandGroup group, Map<String, String> query, int limit, boolean watch) {
        RemoteCommandGroup.checkLimit(limit);
        Printer printer = group.printer();
        if (!printer.isTable())
            return group.list(watch, new ListRequest("/v1/runs", query, limit), "id", List.of("id"));
        ApiClient apiClient = group.client();
        Supplier<RunList> found = () -> {
            if (query.containsKey("state"))
                return flat(apiClient.listPages("/v1/runs", query, limit, run -> true), limit);
            Instant now = group.shell.clock().instant();
            return of(apiClient.listPages("/v1/runs", query, limit, run -> !isPlanned(run, now)), now, limit);
        };
        if (watch) return group.show(true, () -> found.get().text(printer));
        RunList runs = found.get();
        if (runs.isEmpty()) group.shell.err().println("No items found.");
        else group.shell.out().println(runs.text(printer));
        group.reportMore(runs.hasMore(), limit);
        return ExitCode.OK;
    }

    /**
     * Orders runs, and keeps as many as the limit.
     *
     * @param runs more runs than the limit: the server orders them by their creation, and ticks are created long before
     *     they run
     */
    static RunList of(ApiClient.Items runs, Instant now, int limit) {
        RunList list = new RunList(runs.hasMore());
        for (JsonNode run : runs.items()) (isPlanned(run, now) ? list.planned : list.shown).add(run);
        return list.ordered(limit);
    }

    /** Returns a list in which no run is apart: of waiting runs, the one that can start first is first. */
    static RunList flat(ApiClient.Items runs, int limit) {
        RunList list = new RunList(runs.hasMore());
        list.shown.addAll(runs.items());
        return list.ordered(limit);
    }

    private RunList ordered(int limit) {
        shown.sort(Comparator.comparing(RunList::group)
                .thenComparing(RunList::ended, Comparator.reverseOrder())
                .thenComparing(RunList::ready));
        if (shown.size() > limit) {
            hasMore = true;
            shown.subList(limit, shown.size()).clear();
        }
        planned.sort(Comparator.comparing(RunList::ready));
        return this;
    }

    boolean isEmpty() {
        return shown.isEmpty() && planned.isEmpty();
    }

    /** Returns whether the server has runs that are not in the list. */
    boolean hasMore() {
        return hasMore;
    }

    /** Returns whether the run is a tick whose instant is still to come. */
    static boolean isPlanned(JsonNode run, Instant now) {
        return run.path("state").stringValue("").equals("waiting")
                && run.path("origin").stringValue("").equals("tick")
                && run.path("attempt").intValue(0) == 0
                && Instant.parse(run.path("dueAt").stringValue(now.toString())).isAfter(now);
    }

    private static int group(JsonNode run) {
        return switch (run.path("state").stringValue("")) {
            case "running" -> 0;
            case "waiting" -> 1;
            default -> 2;
        };
    }

    private static Instant ended(JsonNode run) {
        return Instant.parse(run.path("endedAt").stringValue(Instant.EPOCH.toString()));
    }

    /** Returns when a run starts at the earliest; of a parked run, its due time. */
    private static Instant ready(JsonNode run) {
        return Instant.parse(run.path(run.has("readyAt") ? "readyAt" : "dueAt").stringValue(Instant.EPOCH.toString()));
    }

    String text(Printer printer) {
        StringBuilder text = new StringBuilder();
        Printer rows = printer.rows(run -> row(run, printer));
        if (!shown.isEmpty()) text.append(rows.listText(shown, "id", withQueue(shown, COLUMNS)));
        if (planned.isEmpty()) return text.toString();
        if (!shown.isEmpty()) text.append("\n\n");
        return text.append("PLANNED TICKS\n")
                .append(printer.listText(
                        planned.subList(0, Math.min(planned.size(), PLANNED_SHOWN)),
                        "id",
                        withQueue(planned, PLANNED_COLUMNS)))
                .append(planned.size() > PLANNED_SHOWN ? "\nand more; --state waiting lists them" : "")
                .toString();
    }

    /** Returns the run with one text for the time that matters in its state, and one for why it is in this state. */
    private static JsonNode row(JsonNode run, Printer printer) {
        return ((ObjectNode) run.deepCopy()).put("when", when(run, printer)).put("reason", reason(run));
    }

    private static String reason(JsonNode run) {
        String error = run.path("lastError").stringValue("");
        if (run.has("reason")) return run.path("reason").stringValue("");
        if (!error.isEmpty()) return error;
        String parked = run.path("parked").stringValue("");
        return parked.isEmpty() ? "-" : PARKED.getOrDefault(parked, parked);
    }

    private static String when(JsonNode run, Printer printer) {
        // The state says that it is the end or the start: a shorter text fits beside the reason.
        if (run.has("endedAt")) return time(run, "endedAt", printer);
        if (run.path("state").stringValue("").equals("running")) return time(run, "startedAt", printer);
        boolean isRetry = run.path("failures").intValue(0) > 0;
        return (isRetry ? "retry " : "due ") + time(run, run.has("readyAt") ? "readyAt" : "dueAt", printer);
    }

    private static String time(JsonNode run, String field, Printer printer) {
        String instant = run.path(field).stringValue("");
        return instant.isEmpty() ? "-" : printer.timeText(instant);
    }

    /** Shows the queues only if one of them is not the queue that the runs of its target have by default. */
    private static List<String> withQueue(List<JsonNode> runs, List<String> columns) {
        if (runs.stream().allMatch(RunList::hasDefaultQueue)) return columns;
        List<String> all = new ArrayList<>(columns);
        all.add(all.indexOf("target") + 1, "queue");
        return all;
    }

    private static boolean hasDefaultQueue(JsonNode run) {
        JsonNode target = run.path("target");
        String queue = run.path("queue").stringValue("");
        String handler = target.path("handler").stringValue("");
        return queue.equals(handler)
                || queue.equals("endpoint." + target.path("endpoint").stringValue(""))
                || (queue.equals("webhooks") && (target.has("url") || handler.equals("webhook")));
    }
}
