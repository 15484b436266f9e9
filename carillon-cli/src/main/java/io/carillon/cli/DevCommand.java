package io.carillon.cli;

import io.carillon.cli.dev.Dev;
import io.carillon.cli.dev.DevOptions;
import io.carillon.cli.shell.DataHome;
import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.Shell;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code carillon dev}: a node with a PostgreSQL of its own and demo schedules, to look at and to play with. */
@Command(
        name = "dev",
        description = "Start a node with its own PostgreSQL and three demo schedules. Not for production.",
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

    DevCommand(Shell shell) {
        this.shell = shell;
    }

    @Override
    public Integer call() {
        Path directory = data == null ? DataHome.of(shell).path().resolve("dev") : DataHome.absolute("--data", data);
        DatabaseUrl url = databaseUrl == null ? null : DatabaseUrl.parse(databaseUrl);
        return new Dev(shell, new DevOptions(directory, url, seed == Seed.DEMO, plain, Version.number())).run();
    }
}
