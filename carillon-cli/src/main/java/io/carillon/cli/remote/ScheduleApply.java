package io.carillon.cli.remote;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.Client;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Failure;
import io.carillon.cli.shell.Secrets;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Brings schedules to what somebody wrote down. Each is done for itself: one that is refused does not hold the others up. */
final class ScheduleApply {
    /** What a server tells about a schedule and nobody can set. */
    private static final List<String> TOLD = List.of(
            "id",
            "version",
            "description",
            "unreadable",
            "ticks",
            "plannedUntil",
            "nextAfterPlanned",
            "nextRuns",
            "lastRun",
            "createdAt",
            "updatedAt",
            "paused",
            "name",
            "warnings");

    private final Shell shell;
    private final Client client;
    private final Printer printer;

    ScheduleApply(Shell shell, Client client, Printer printer) {
        this.shell = shell;
        this.client = client;
        this.printer = printer;
    }

    /** Each with its name in it. */
    static List<ObjectNode> wanted(@Nullable String name, @Nullable String file, ScheduleForm form) {
        if (file == null && name == null) throw new UsageException("Which? Give a NAME and flags, or --file.");
        if (file == null) return List.of(form.json().put("name", name));
        if (!form.isEmpty()) throw new UsageException("Give flags or --file, not both.");
        JsonNode read = Json.parse(file, Secrets.read("--file", file));
        List<ObjectNode> wanted = new ArrayList<>();
        for (JsonNode one : read.isArray() ? read : List.of(read)) {
            if (!(one instanceof ObjectNode schedule))
                throw new UsageException(file + " holds no schedules: {} or [{}, …].");
            if (name != null) schedule.put("name", name);
            if (schedule.path("name").stringValue("").isEmpty())
                throw new UsageException("A schedule in %s has no \"name\".".formatted(file));
            wanted.add(schedule);
        }
        if (name != null && wanted.size() != 1)
            throw new UsageException("%s holds %d schedules, so NAME cannot name them.".formatted(file, wanted.size()));
        return wanted;
    }

    /** A schedule as the server shows it, as it may be sent back. */
    static ObjectNode settable(JsonNode schedule) {
        ObjectNode body = (ObjectNode) schedule.deepCopy();
        body.remove(TOLD);
        return body;
    }

    int all(List<ObjectNode> wanted) {
        List<Failure> failures = new ArrayList<>();
        for (ObjectNode schedule : wanted) {
            String name = schedule.path("name").stringValue("");
            try {
                one(name, schedule);
            } catch (Failure failure) {
                if (wanted.size() == 1) throw failure;
                shell.err().println("carillon: %s: %s".formatted(name, failure.getMessage()));
                failures.add(failure);
            }
        }
        if (failures.isEmpty()) return ExitCode.OK;
        return failures.size() < wanted.size()
                ? ExitCode.PARTLY
                : failures.get(0).exit();
    }

    private void one(String name, ObjectNode schedule) {
        ObjectNode body = settable(schedule);
        JsonNode before = before(name);
        Client.Reply reply = client.put(Client.path("schedules", name), body, Map.of());
        String change = reply.status() == 201
                ? "created"
                : reply.body().path("version").equals(before.path("version")) ? "unchanged" : "changed";
        printer.done("%s %s".formatted(name, change), reply.body(), "name");
        warn(shell, reply.body());
    }

    /** Says what the server takes as it is written and for a mistake. */
    static void warn(Shell shell, JsonNode answer) {
        for (JsonNode warning : answer.path("warnings"))
            shell.err().println("Warning: " + warning.stringValue("") + ".");
    }

    private JsonNode before(String name) {
        try {
            return client.get(Client.path("schedules", name));
        } catch (Failure failure) {
            if (failure.exit() == ExitCode.MISSING) return RemoteGroup.body();
            throw failure;
        }
    }
}
