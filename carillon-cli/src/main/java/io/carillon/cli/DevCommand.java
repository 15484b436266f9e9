package io.carillon.cli;

import io.carillon.cli.config.Address;
import io.carillon.cli.dev.DevNode;
import io.carillon.cli.dev.DevOptions;
import io.carillon.cli.shell.DataDirectory;
import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code carillon dev}: a node with its own PostgreSQL and demo schedules, for trying things out. */
@Command(
        name = "dev",
        description =
                "Start a node with its own PostgreSQL, the REST API and three demo schedules. Not for production.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class DevCommand implements Callable<Integer> {
    /** The schedules that exist at the start. */
    enum Seed {
        DEMO,
        NONE
    }

    private final Shell shell;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "Directory for the database and the log. Default: 'dev' in $CARILLON_HOME, or in the user's "
                    + "data directory.")
    private @Nullable String data;

    @Option(
            names = "--reset",
            description = "First delete the database and the keys in the data directory, without asking.")
    private boolean reset;

    @Option(
            names = "--seed",
            paramLabel = "demo|none",
            defaultValue = "demo",
            description = "Initial schedules; 'none' removes the demo schedules of an earlier start. Default: "
                    + "${DEFAULT-VALUE}.")
    private Seed seed = Seed.DEMO;

    @Option(
            names = "--plain",
            description = "Print one line per event instead of the live view. Always on without a terminal.")
    private boolean plain;

    @Option(
            names = "--database-url",
            paramLabel = "URL",
            description = "PostgreSQL to use instead of an embedded one. $DATABASE_URL is ignored.")
    private @Nullable String databaseUrl;

    @Option(
            names = "--listen",
            paramLabel = "[HOST:]PORT",
            description = "Address of the REST API. Default: 127.0.0.1:8080, or a free port if 8080 is in use.")
    private @Nullable String listen;

    DevCommand(Shell shell) {
        this.shell = shell;
    }

    @Override
    public Integer call() {
        Path directory = data == null
                ? DataDirectory.of(shell).path().resolve("dev")
                : DataDirectory.absolutePath("--data", data);
        if (reset && databaseUrl != null)
            throw new UsageException(
                    "--reset cannot be combined with --database-url: it deletes embedded databases only.");
        DatabaseUrl url = databaseUrl == null ? null : DatabaseUrl.parse(databaseUrl);
        Optional<Address> address = Optional.ofNullable(listen).map(Address::parse);
        DevOptions options = new DevOptions(
                directory, data != null, reset, url, address, seed == Seed.DEMO, plain, Version.number());
        return new DevNode(shell, options).run();
    }
}
