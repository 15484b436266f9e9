package io.carillon.cli.remote;

import io.carillon.cli.shell.Shell;
import java.util.List;

/** The command groups that use a server. */
public final class RemoteCommands {
    private RemoteCommands() {}

    /** Returns the command groups, in the order of the help. */
    public static List<Object> all(Shell shell) {
        return List.of(
                new ScheduleCommands(shell),
                new RunCommands(shell),
                new QueueCommands(shell),
                new BulkCommands(shell),
                new EndpointCommands(shell),
                new WebhookCommands(shell),
                new NodeCommands(shell),
                new AuditCommands(shell),
                new StreamCommand(shell),
                new KeyCommands(shell),
                new ProjectCommands(shell),
                new ProfileCommands(shell),
                new DoctorCommand(shell));
    }
}
