package io.carillon.cli.remote;

import io.carillon.cli.shell.Shell;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** The command groups that use a server. */
public final class RemoteCommands {
    private RemoteCommands() {}

    /** Returns the command groups by name, in the order of the help. A group is loaded when it is created. */
    public static Map<String, Function<Shell, Object>> all() {
        Map<String, Function<Shell, Object>> groups = new LinkedHashMap<>();
        groups.put("schedule", ScheduleCommands::new);
        groups.put("run", RunCommands::new);
        groups.put("workflow", WorkflowCommands::new);
        groups.put("queue", QueueCommands::new);
        groups.put("bulk", BulkCommands::new);
        groups.put("event", EventCommands::new);
        groups.put("subscription", SubscriptionCommands::new);
        groups.put("relay", RelayCommands::new);
        groups.put("endpoint", EndpointCommands::new);
        groups.put("webhook", WebhookCommands::new);
        groups.put("node", NodeCommands::new);
        groups.put("stats", StatsCommand::new);
        groups.put("audit", AuditCommands::new);
        groups.put("stream", StreamCommand::new);
        groups.put("key", KeyCommands::new);
        groups.put("project", ProjectCommands::new);
        groups.put("member", MemberCommands::new);
        groups.put("profile", ProfileCommands::new);
        groups.put("doctor", DoctorCommand::new);
        return groups;
    }
}
