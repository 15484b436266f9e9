package io.carillon.internal.postgres.migration;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.SchemaMode;
import io.carillon.internal.jdbc.Backend;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import javax.sql.DataSource;

/**
 * A migrator that brings the schema {@code carillon} to the version that this release needs, or reports why it cannot.
 * Each file is applied exactly once, in order, and completely or not at all, no matter how many processes start at the
 * same time.
 */
public final class Migrator {
    /**
     * The SQL that must run before the first file; {@link #print} includes it. If the schema exists, no permission on
     * the database is needed.
     */
    static final String BOOTSTRAP = """
            DO $$ BEGIN
              IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'carillon')
                THEN CREATE SCHEMA carillon; END IF;
            END $$;
            CREATE TABLE IF NOT EXISTS carillon.migration (
              number     integer PRIMARY KEY,
              name       text NOT NULL,
              checksum   text NOT NULL,
              min_code   integer NOT NULL,
              applied_at timestamptz NOT NULL
            );
            """;

    private static final String PRINT_HEADER = """
            -- Carillon: migrations %d to %d. Run it as a user who may create tables in the schema carillon.
            -- %s
            """;
    private static final String ONE_TRANSACTION_HINT =
            "Run it in one transaction (psql -1 -v ON_ERROR_STOP=1 -f, or one Flyway script).";
    private static final String NO_TRANSACTION_HINT =
            "It contains statements that cannot run inside a transaction: run it without one (psql"
                    + " -v ON_ERROR_STOP=1 -f, or Flyway with executeInTransaction=false).";

    private static final Duration DEFAULT_WAIT_TIMEOUT = Duration.ofSeconds(60);

    private final DataSource dataSource;
    private final List<Migration> files;
    private final Duration waitTimeout;

    /** Creates a migrator for the database of this data source; connections are returned to it unchanged. */
    public Migrator(DataSource dataSource) {
        this(dataSource, MigrationFiles.load(), DEFAULT_WAIT_TIMEOUT);
    }

    private Migrator(DataSource dataSource, List<Migration> files, Duration waitTimeout) {
        this.dataSource = dataSource;
        this.files = files;
        this.waitTimeout = waitTimeout;
    }

    /**
     * Returns a migrator with another limit for each wait, for a process that is already migrating or for a lock on a
     * table. Default: 60 s.
     */
    public Migrator waitTimeout(Duration atMost) {
        return new Migrator(dataSource, files, atMost);
    }

    /**
     * Returns the number of the newest migration in this release: the version of its schema, and the number that
     * {@code min_code} is compared with.
     */
    public int newestNumber() {
        return files.size();
    }

    /**
     * Checks or migrates the schema as the mode says. Returns only if the schema fits this release, or if the mode is
     * {@link SchemaMode#OFF}.
     */
    public void run(SchemaMode mode) {
        if (mode == SchemaMode.OFF) return;
        withConnection(connection -> {
            SchemaState state = SchemaState.read(connection);
            List<Migration> pending = state.pending(files);
            if (pending.isEmpty()) return state;
            if (mode == SchemaMode.VALIDATE) throw tooOld(state, pending);
            new MigrationRun(connection, dataSource::getConnection, files, waitTimeout).applyPending();
            return state;
        });
    }

    /**
     * Returns the number of the newest migration that was applied to the database; 0 if there is none. Rejects a schema
     * to which other files were applied.
     */
    public int appliedNumber() {
        SchemaState state = withConnection(SchemaState::read);
        state.requireSameFiles(files);
        return state.number();
    }

    private interface SchemaCheck {
        SchemaState read(Connection connection) throws SQLException;
    }

    private SchemaState withConnection(SchemaCheck check) {
        try (Connection connection = connect()) {
            boolean autoCommit = connection.getAutoCommit();
            int socketTimeout = connection.getNetworkTimeout();
            connection.setAutoCommit(true);
            // An index build may take longer than a statement of an application.
            connection.setNetworkTimeout(Runnable::run, 0);
            if (Backend.isPooled(connection)) Backend.disableServerPrepare(connection);
            try {
                return check.read(connection);
            } finally {
                MigrationSession.quietly(() -> connection.setAutoCommit(autoCommit));
                MigrationSession.quietly(() -> connection.setNetworkTimeout(Runnable::run, socketTimeout));
            }
        } catch (SQLException e) {
            throw new CarillonException(
                    ErrorCode.STORAGE,
                    ("The schema carillon could not be read: %s. The user needs USAGE on the schema and SELECT on"
                                    + " carillon.migration; SchemaMode.OFF starts without this check.")
                            .formatted(MigrationSession.firstLine(e)),
                    e);
        }
    }

    /**
     * Returns the SQL of the files from this number on (1 for all), with the rows of carillon.migration, for psql,
     * Flyway or another tool.
     */
    public String print(int from) {
        List<Migration> printed =
                files.stream().filter(file -> file.number() >= from).toList();
        if (printed.isEmpty()) return "-- Carillon: nothing to apply from version %d on.\n".formatted(from);
        boolean oneTransaction = printed.stream().allMatch(Migration::transactional);
        StringBuilder sql = new StringBuilder();
        sql.append(PRINT_HEADER.formatted(
                printed.get(0).number(), newestNumber(), oneTransaction ? ONE_TRANSACTION_HINT : NO_TRANSACTION_HINT));
        if (printed.get(0).number() == 1) sql.append('\n').append(BOOTSTRAP);
        for (Migration file : printed) {
            sql.append("\n-- ").append(file.file()).append('\n');
            sql.append(file.sql()).append('\n').append(file.insertStatement());
        }
        return sql.toString();
    }

    private Connection connect() {
        try {
            return dataSource.getConnection();
        } catch (SQLException e) {
            throw new CarillonException(
                    ErrorCode.DATABASE_UNREACHABLE,
                    ("The schema check could not connect to the database: %s. Check the address, the user and"
                                    + " the size of the pool.")
                            .formatted(MigrationSession.firstLine(e)),
                    e);
        }
    }

    private static CarillonException tooOld(SchemaState state, List<Migration> pending) {
        String missing = pending.stream().map(Migration::file).collect(Collectors.joining(", "));
        return new CarillonException(
                ErrorCode.SCHEMA_TOO_OLD,
                ("The schema carillon is at version %d and lacks %s. Start once with SchemaMode.AUTO as a user"
                                + " who may create tables, or apply the SQL of Schema.sql(%d) or"
                                + " 'carillon migrate --print'.")
                        .formatted(state.number(), missing, pending.get(0).number()));
    }
}
