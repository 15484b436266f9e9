package io.carillon.cli;

import io.carillon.cli.config.Address;
import io.carillon.cli.dev.Dev;
import io.carillon.cli.dev.DevOptions;
import io.carillon.cli.shell.DataHome;
import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.Shell;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code carillon dev}: a node with a PostgreSQL of its own and demo schedules, to look at and to play with. */
@Command(
        name = "dev",
        description = "Start a node with its own PostgreSQL, REST and three demo schedules. Not for production.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class DevCommand implements Callable<Integer> {
    /** What is there at the start. */
    enum Seed {
        DEMO,
        NONE
    }

    private final Shell shell;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description =
                    "Keep database and log here. Default: 'dev' in $CARILLON_HOME, else in the user's data directory.")
    private @Nullable String data;

    @Option(
            names = "--seed",
            paramLabel = "demo|none",
            defaultValue = "demo",
            description =
                    "Schedules to begin with; 'none' removes those of an earlier start. Default: ${DEFAULT-VALUE}.")
    private Seed seed = Seed.DEMO;

    @Option(
            names = "--plain",
            description = "One line for each change instead of the live view, as without a terminal.")
    private boolean plain;

    @Option(
            names = "--database-url",
            paramLabel = "URL",
            description = "Use this PostgreSQL instead of an embedded one ($DATABASE_URL is not read here).")
    private @Nullable String databaseUrl;

    @Option(
            names = "--listen",
            paramLabel = "[HOST:]PORT",
            description = "Where REST listens. Default: 127.0.0.1:8080, or any free port if that is taken.")
    private @Nullable String listen;

    DevCommand(Shell shell) {
        this.shell = shell;
    }

    @Override
    public Integer call() {
        Path directory = data == null ? DataHome.of(shell).path().resolve("dev") : DataHome.absolute("--data", data);
        DatabaseUrl url = databaseUrl == null ? null : DatabaseUrl.parse(databaseUrl);
        Optional<Address> address = Optional.ofNullable(listen).map(Address::parse);
        return new Dev(shell, new DevOptions(directory, url, address, seed == Seed.DEMO, plain, Version.number()))
                .run();
    }
}
