package io.carillon.cli.answer;

import io.carillon.cli.shell.Program;
import io.carillon.internal.run.ErrorText;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Sentences about runs, each with the command that helps. */
public final class RunText {
    private static final Set<String> DEAD_STATES = Set.of("dead", "quarantined");

    private RunText() {}

    /** Returns the number with its noun. */
    public static String runs(long count) {
        return count == 1 ? "1 run" : count + " runs";
    }

    /** Returns the run with a field that says what to do; the run itself if there is nothing to do. */
    public static JsonNode withNextStep(JsonNode run) {
        String id = run.path("id").stringValue("");
        String step = nextStep(
                id, run.path("state").stringValue(""), run.path("failures").intValue(0));
        return step.isEmpty() ? run : ((ObjectNode) run.deepCopy()).put("next step", step);
    }

    private static String nextStep(String id, String state, int failures) {
        if (DEAD_STATES.contains(state))
            return Program.inText("'carillon run redrive %s' runs it again".formatted(id))
                    + (failures > 1
                            ? Program.inText("\n'carillon run attempts %s' lists its attempts".formatted(id))
                            : "");
        return state.equals("waiting") ? Program.inText("'carillon run explain %s' says why".formatted(id)) : "";
    }

    /** Returns the explanation: each reason once, and the command that helps. */
    public static String explanation(String id, JsonNode explanation) {
        String summary = explanation.path("summary").stringValue("");
        List<String> lines = new ArrayList<>(List.of(summary));
        for (JsonNode hold : explanation.path("holds")) {
            String reason = hold.stringValue(hold.toString());
            if (!summary.contains(reason)) lines.add("Also: " + reason + ".");
        }
        String signal = explanation.path("signal").stringValue("");
        if (!signal.isEmpty())
            lines.add(Program.inText("'carillon workflow signal %s %s --value JSON' sends it".formatted(id, signal)));
        String state = explanation.path("state").stringValue("");
        if (DEAD_STATES.contains(state)) {
            lines.add(Program.inText("'carillon run get %s' shows its error".formatted(id)));
            lines.add(Program.inText("'carillon run redrive %s' runs it again".formatted(id)));
        }
        return String.join("\n", lines);
    }

    /** Returns what the server did with a run that it was asked to execute. */
    public static String execution(String id, JsonNode execution) {
        int attempt = execution.path("attempt").intValue(0);
        String readyAt = execution.path("readyAt").stringValue("");
        return switch (execution.path("result").stringValue("")) {
            case "executed" ->
                "%s attempt %d of %s; it is %s%s."
                        .formatted(
                                execution.path("failed").booleanValue(false) ? "Failed:" : "Executed",
                                attempt,
                                id,
                                execution.path("state").stringValue(""),
                                readyAt.isEmpty() ? "" : ", ready at " + readyAt);
            case "not-due" -> "%s is not due before %s.".formatted(id, readyAt);
            case "not-ready" ->
                "%s is not executed now: %s."
                        .formatted(id, execution.path("reason").stringValue(""));
            case "running" -> "%s is running, attempt %d.".formatted(id, attempt);
            default -> "%s has ended: %s.".formatted(id, execution.path("state").stringValue(""));
        };
    }

    /** Returns how a run ended, with the message of its error. */
    public static String ending(String id, JsonNode run) {
        String reason = ErrorText.firstLine(run.path("reason").stringValue("").strip());
        String state = run.path("state").stringValue("");
        return "%s %s%s".formatted(id, state, reason.isEmpty() ? "." : ": " + reason);
    }
}
