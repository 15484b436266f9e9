package io.carillon.cli.remote;

import io.carillon.cli.shell.Shell;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code carillon audit}. */
@Command(
        name = "audit",
        description = "Show the audit log: who changed what. For admins of the project.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class AuditCommands extends RemoteCommandGroup {
    private static final List<String> COLUMNS = List.of("at", "actor", "action", "object", "detail", "requestId");

    AuditCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "List changes, latest first.", sortOptions = false)
    int list(
            @Option(
                            names = "--action",
                            paramLabel = "ACTION",
                            description = "Filter by action, such as schedule.put or queue.pause.")
                    @Nullable
                    String action,
            @Option(
                            names = "--actor",
                            paramLabel = "ACTOR",
                            description = "Filter by actor, such as 'key 0a1b2c3d4e5f'.")
                    @Nullable
                    String actor,
            @Option(
                            names = "--object",
                            paramLabel = "OBJECT",
                            description = "Filter by object, such as schedule/nightly.")
                    @Nullable
                    String object,
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "20",
                            description = "Maximum number of items. Default: ${DEFAULT-VALUE}.")
                    int limit,
            @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        Map<String, String> query = new LinkedHashMap<>();
        if (action != null) query.put("action", action);
        if (actor != null) query.put("actor", actor);
        if (object != null) query.put("object", object);
        return list(watch, new ListRequest("/v1/audit", query, limit), "id", COLUMNS);
    }
}
