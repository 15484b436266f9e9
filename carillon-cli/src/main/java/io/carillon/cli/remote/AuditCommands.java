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
        description = "Look at who changed what; for admins of the project.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class AuditCommands extends RemoteGroup {
    private static final List<String> COLUMNS = List.of("at", "actor", "action", "object", "detail", "requestId");

    AuditCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "List changes, the latest first.", sortOptions = false)
    int list(
            @Option(names = "--action", paramLabel = "ACTION", description = "Such as schedule.put or queue.pause.")
                    @Nullable
                    String action,
            @Option(names = "--actor", paramLabel = "WHO", description = "Who did it, such as 'key 0a1b2c3d4e5f'.")
                    @Nullable
                    String actor,
            @Option(names = "--object", paramLabel = "WHAT", description = "To what, such as schedule/nightly.")
                    @Nullable
                    String object,
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "20",
                            description = "How many at most. Default: ${DEFAULT-VALUE}.")
                    int limit,
            @Option(names = "--watch", description = "Show them anew when they change, until Ctrl-C.") boolean watch) {
        Map<String, String> query = new LinkedHashMap<>();
        if (action != null) query.put("action", action);
        if (actor != null) query.put("actor", actor);
        if (object != null) query.put("object", object);
        return list(watch, new Wanted("/v1/audit", query, limit), "id", COLUMNS);
    }
}
