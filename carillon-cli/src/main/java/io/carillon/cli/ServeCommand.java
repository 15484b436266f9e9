package io.carillon.cli;

import io.carillon.cli.config.ServerConfig;
import io.carillon.cli.config.ServerFlags;
import io.carillon.cli.serve.ServerProcess;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.LogSetup;
import io.carillon.cli.shell.Shell;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code carillon serve}: a node with the REST API on an existing database. */
@Command(
        name = "serve",
        description =
                "Start a node with the REST API on a PostgreSQL database. Any number of nodes can share one database.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class ServeCommand implements Callable<Integer> {
    private final Shell shell;

    @Mixin
    private ServerFlags flags = new ServerFlags();

    ServeCommand(Shell shell) {
        this.shell = shell;
    }

    @Override
    public Integer call() {
        ServerConfig config = ServerConfig.of(flags.settings(shell), shell);
        LogSetup.linesTo(shell.err(), config.jsonLog());
        new ServerProcess(shell, config).stopOnSignal().run();
        return ExitCode.OK;
    }
}
