package io.carillon.cli;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.Schema;
import io.carillon.cli.config.Settings;
import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Logs;
import io.carillon.cli.shell.Pools;
import io.carillon.cli.shell.Shell;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code carillon migrate}: brings the tables of a database up to date, checks them, or prints the SQL. */
@Command(
        name = "migrate",
        description = "Create or update the tables in the schema 'carillon' of a PostgreSQL database.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class MigrateCommand implements Callable<Integer> {
    private final Shell shell;

    @Option(
            names = "--database-url",
            paramLabel = "URL",
            description =
                    "postgres://user:password@host:5432/database or a jdbc:postgresql: URL. Default: $DATABASE_URL, $DATABASE_URL_FILE or $PGHOST and its kin.")
    private @Nullable String databaseUrl;

    @ArgGroup(exclusive = true)
    private Mode mode = new Mode();

    /** What to do instead of migrating. */
    static final class Mode {
        @Option(
                names = "--print",
                description =
                        "Print the SQL that is missing and change nothing; without a database, the SQL of all migrations.")
        private boolean print;

        @Option(names = "--validate", description = "Change nothing; fail unless the tables fit this version.")
        private boolean validate;
    }

    MigrateCommand(Shell shell) {
        this.shell = shell;
    }

    @Override
    public Integer call() {
        Logs.warningsTo(shell.err());
        Optional<DatabaseUrl> url = Settings.database(shell, databaseUrl);
        if (url.isEmpty() && !mode.print) throw Settings.noDatabase();
        try (HikariDataSource pool = url.map(known -> Pools.on(known, 1)).orElseGet(Pools::offline)) {
            Schema schema = Carillon.schema(pool);
            if (mode.print) print(schema, url.isPresent());
            else if (mode.validate) validate(schema);
            else migrate(schema, url.orElseThrow());
        }
        return ExitCode.OK;
    }

    private void print(Schema schema, boolean online) {
        shell.out().print(schema.sql(online ? schema.number() + 1 : 1));
        shell.out().flush();
    }

    private void validate(Schema schema) {
        try {
            schema.validate();
        } catch (CarillonException problem) {
            if (problem.code() != ErrorCode.SCHEMA_TOO_OLD) throw problem;
            throw new CarillonException(
                    problem.code(),
                    "The schema is at number %d, this version needs %d. Run 'carillon migrate' as a user who may create tables, or apply the SQL of 'carillon migrate --print'."
                            .formatted(schema.number(), schema.newest()),
                    problem);
        }
        shell.out().println("The schema is at number %d and fits this version.".formatted(schema.number()));
    }

    private void migrate(Schema schema, DatabaseUrl url) {
        int before = schema.number();
        schema.migrate();
        int after = schema.number();
        String where = " (" + url.shown() + ").";
        if (before == after) shell.out().println("The schema is at number " + after + " already" + where);
        else if (before == 0) shell.out().println("The schema was created at number " + after + where);
        else shell.out().println("The schema went from number " + before + " to " + after + where);
    }
}
