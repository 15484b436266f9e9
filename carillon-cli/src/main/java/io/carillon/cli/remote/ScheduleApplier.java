package io.carillon.cli.remote;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.JsonInput;
import io.carillon.cli.remote.flags.ScheduleFlags;
import io.carillon.cli.shell.CommandException;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Creates or changes schedules from options or a file, many with one request. A rejected schedule does not stop the
 * others.
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
            "owner",
            "createdAt",
            "updatedAt",
            "paused",
            "name",
            "warnings");

    private static final int MAX_SCHEDULES = 1_000;
    /** Less than a request may have, for the JSON around the schedules. */
    private static final int MAX_BYTES = 2_000_000;

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
        JsonNode read = JsonInput.parseFile(file, SecretFiles.readText("--file", file));
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
        for (ObjectNode request : requests(wanted))
            for (JsonNode result :
                    apiClient.post("/v1/schedules:batch", request).path("items"))
                print(result, wanted.size() == 1).ifPresent(failures::add);
        if (failures.isEmpty()) return ExitCode.OK;
        return failures.size() < wanted.size()
                ? ExitCode.PARTIAL
                : failures.get(0).exitCode();
    }

    /** Returns the requests that contain these schedules: as few as the limits of the server allow. */
    private static List<ObjectNode> requests(List<ObjectNode> wanted) {
        List<ObjectNode> requests = new ArrayList<>();
        ArrayNode schedules = JsonNodeFactory.instance.arrayNode();
        int size = 0;
        for (ObjectNode schedule : wanted) {
            ObjectNode body = withoutReadOnlyFields(schedule);
            body.set("name", schedule.get("name"));
            int more = body.toString().getBytes(StandardCharsets.UTF_8).length;
            if (schedules.isEmpty() || schedules.size() == MAX_SCHEDULES || size + more > MAX_BYTES) {
                schedules = JsonNodeFactory.instance.arrayNode();
                size = 0;
                requests.add(JsonNodeFactory.instance.objectNode().set("schedules", schedules));
            }
            schedules.add(body);
            size += more;
        }
        return requests;
    }

    /** Prints the result of a schedule; returns the failure if the server rejected one of several. */
    private Optional<CommandException> print(JsonNode result, boolean single) {
        String name = result.path("name").stringValue("");
        JsonNode error = result.path("error");
        if (!error.isMissingNode()) {
            CommandException failure = apiClient.toFailure(error);
            if (single) throw failure;
            shell.err().println("carillon: %s: %s".formatted(name, failure.getMessage()));
            return Optional.of(failure);
        }
        String change = result.path("change").stringValue("").replace("updated", "changed");
        printer.printResult("%s %s".formatted(name, change), result, "name");
        printWarnings(shell, result);
        return Optional.empty();
    }

    /** Prints the warnings of the server about definitions that are valid but probably a mistake. */
    static void printWarnings(Shell shell, JsonNode answer) {
        for (JsonNode warning : answer.path("warnings"))
            shell.err().println("Warning: " + warning.stringValue("") + ".");
    }
}
