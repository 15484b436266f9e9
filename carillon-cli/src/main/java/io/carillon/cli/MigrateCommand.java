package io.carillon.cli;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.Schema;
import io.carillon.cli.config.Settings;
import io.carillon.cli.shell.ConnectionPools;
import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.LogSetup;
import io.carillon.cli.shell.Shell;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code carillon migrate}: migrates the schema of a database, checks it, or prints the SQL. */
@Command(
        name = "migrate",
        description = "Create or migrate the schema 'carillon' of a PostgreSQL database.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class MigrateCommand implements Callable<Integer> {
    private final Shell shell;

    @Option(
            names = "--database-url",
            paramLabel = "URL",
            description = "Database, as postgres://user:password@host:5432/database or a jdbc:postgresql: URL. "
                    + "Default: $DATABASE_URL, $DATABASE_URL_FILE or the PG* variables.")
    private @Nullable String databaseUrl;

    @ArgGroup(exclusive = true)
    private Mode mode = new Mode();

    /** The alternatives to migrating. */
    static final class Mode {
        @Option(
                names = "--print",
                description = "Print the SQL of the missing migrations and change nothing. Without a database, print "
                        + "the SQL of all migrations.")
        private boolean print;

        @Option(
                names = "--validate",
                description = "Change nothing; exit with code 1 unless the schema fits this version.")
        private boolean validate;
    }

    MigrateCommand(Shell shell) {
        this.shell = shell;
    }

    @Override
    public Integer call() {
        LogSetup.warningsTo(shell.err());
        Optional<DatabaseUrl> url = Settings.database(shell, databaseUrl);
        if (url.isEmpty() && !mode.print) throw Settings.noDatabase();
        try (HikariDataSource pool =
                url.map(known -> ConnectionPools.open(known, 1)).orElseGet(ConnectionPools::unconnected)) {
            Schema schema = Carillon.schema(pool);
            if (mode.print) print(schema, url.isPresent());
            else if (mode.validate) validate(schema);
            else migrate(schema, url.orElseThrow());
        }
        return ExitCode.OK;
    }

    private void print(Schema schema, boolean online) {
        shell.out().print(schema.sql(online ? schema.appliedVersion() + 1 : 1));
        shell.out().flush();
    }

    private void validate(Schema schema) {
        try {
            schema.validate();
        } catch (CarillonException problem) {
            if (problem.code() != ErrorCode.SCHEMA_TOO_OLD) throw problem;
            throw new CarillonException(
                    problem.code(),
                    ("The schema is at version %d, but this release needs version %d. Run 'carillon migrate' as a "
                                    + "database user who may create tables, or apply the SQL of 'carillon migrate"
                                    + " --print'.")
                            .formatted(schema.appliedVersion(), schema.requiredVersion()),
                    problem);
        }
        shell.out().println("The schema is at version %d and fits this release.".formatted(schema.appliedVersion()));
    }

    private void migrate(Schema schema, DatabaseUrl url) {
        int before = schema.appliedVersion();
        schema.migrate();
        int after = schema.appliedVersion();
        String where = " (" + url.displayText() + ").";
        if (before == after) shell.out().println("The schema is already at version " + after + where);
        else if (before == 0) shell.out().println("The schema was created at version " + after + where);
        else shell.out().println("The schema was migrated from version " + before + " to " + after + where);
    }
}
