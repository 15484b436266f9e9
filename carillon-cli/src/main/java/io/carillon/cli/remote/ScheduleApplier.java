package io.carillon.cli.remote;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.JsonBody;
import io.carillon.cli.remote.flags.JsonInput;
import io.carillon.cli.remote.flags.ScheduleFlags;
import io.carillon.cli.shell.CommandException;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Creates or changes schedules from options or a file. Each schedule is applied separately: a rejected schedule does
 * not stop the others.
 */
final class ScheduleApplier {
    /** The fields that the server returns and a client cannot set. */
    private static final List<String> READ_ONLY_FIELDS = List.of(
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
    private final ApiClient apiClient;
    private final Printer printer;

    ScheduleApplier(Shell shell, ApiClient apiClient, Printer printer) {
        this.shell = shell;
        this.apiClient = apiClient;
        this.printer = printer;
    }

    /**
     * Returns the requested schedules, each with its name.
     *
     * @param name null if the names are in the file
     * @param file null if the options define the schedule
     */
    static List<ObjectNode> readSchedules(@Nullable String name, @Nullable String file, ScheduleFlags flags) {
        if (file == null && name == null)
            throw new UsageException("No schedule is given. Give a NAME and options, or --file.");
        if (file == null) return List.of(flags.json().put("name", name));
        if (!flags.isEmpty()) throw new UsageException("Give options or --file, not both.");
        JsonNode read = JsonInput.parse(file, SecretFiles.readText("--file", file));
        List<ObjectNode> wanted = new ArrayList<>();
        for (JsonNode one : read.isArray() ? read : List.of(read)) {
            if (!(one instanceof ObjectNode schedule))
                throw new UsageException(file + " must contain a schedule {} or an array of schedules [{}, …].");
            if (name != null) schedule.put("name", name);
            if (schedule.path("name").stringValue("").isEmpty())
                throw new UsageException("A schedule in %s has no \"name\".".formatted(file));
            wanted.add(schedule);
        }
        if (name != null && wanted.size() != 1)
            throw new UsageException("%s contains %d schedules. NAME is allowed only with a single schedule."
                    .formatted(file, wanted.size()));
        return wanted;
    }

    /** Returns a schedule of the server in the form in which it can be sent back. */
    static ObjectNode withoutReadOnlyFields(JsonNode schedule) {
        ObjectNode body = (ObjectNode) schedule.deepCopy();
        body.remove(READ_ONLY_FIELDS);
        return body;
    }

    int applyAll(List<ObjectNode> wanted) {
        List<CommandException> failures = new ArrayList<>();
        for (ObjectNode schedule : wanted) {
            String name = schedule.path("name").stringValue("");
            try {
                applyOne(name, schedule);
            } catch (CommandException commandException) {
                if (wanted.size() == 1) throw commandException;
                shell.err().println("carillon: %s: %s".formatted(name, commandException.getMessage()));
                failures.add(commandException);
            }
        }
        if (failures.isEmpty()) return ExitCode.OK;
        return failures.size() < wanted.size()
                ? ExitCode.PARTIAL
                : failures.get(0).exitCode();
    }

    private void applyOne(String name, ObjectNode schedule) {
        ObjectNode body = withoutReadOnlyFields(schedule);
        JsonNode before = findExisting(name);
        ApiClient.Reply reply = apiClient.put(ApiClient.path("schedules", name), body, Map.of());
        String change = reply.status() == 201
                ? "created"
                : reply.body().path("version").equals(before.path("version")) ? "unchanged" : "changed";
        printer.printResult("%s %s".formatted(name, change), reply.body(), "name");
        printWarnings(shell, reply.body());
    }

    /** Prints the warnings of the server about definitions that are valid but probably a mistake. */
    static void printWarnings(Shell shell, JsonNode answer) {
        for (JsonNode warning : answer.path("warnings"))
            shell.err().println("Warning: " + warning.stringValue("") + ".");
    }

    private JsonNode findExisting(String name) {
        try {
            return apiClient.get(ApiClient.path("schedules", name));
        } catch (CommandException commandException) {
            if (commandException.exitCode() == ExitCode.NOT_FOUND) return JsonBody.emptyBody();
            throw commandException;
        }
    }
}
