package io.carillon.cli;

import io.carillon.cli.serve.Address;
import io.carillon.cli.serve.Serve;
import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.Logs;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code carillon serve}: a node with the REST interface, on a database that is there. */
@Command(
        name = "serve",
        description =
                "Start a node with the REST interface on a PostgreSQL database. Any number of them serve one database.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class ServeCommand implements Callable<Integer> {
    private static final String VARIABLE = "DATABASE_URL";

    private final Shell shell;

    @Option(
            names = "--database-url",
            paramLabel = "URL",
            description = "postgres://user:password@host:5432/database or a jdbc:postgresql: URL. Default: $" + VARIABLE
                    + ".")
    private @Nullable String databaseUrl;

    @Option(
            names = "--listen",
            paramLabel = "[HOST:]PORT",
            defaultValue = "127.0.0.1:8080",
            description =
                    "Where to listen. Other addresses than the loopback are refused until a key was made. Default: ${DEFAULT-VALUE}.")
    private String listen = "127.0.0.1:8080";

    ServeCommand(Shell shell) {
        this.shell = shell;
    }

    @Override
    public Integer call() {
        Logs.warningsTo(shell.err());
        Address address = Address.parse(listen);
        DatabaseUrl url = Optional.ofNullable(databaseUrl)
                .or(() -> shell.variable(VARIABLE))
                .map(DatabaseUrl::parse)
                .orElseThrow(() -> new UsageException(
                        "Which database? Name it with --database-url, or set %s.".formatted(VARIABLE)));
        new Serve(shell).untilSignal().run(url, address);
        return ExitCode.OK;
    }
}
