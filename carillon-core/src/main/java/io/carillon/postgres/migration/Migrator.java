package io.carillon.postgres.migration;

import io.carillon.postgres.backend.Backend;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.SchemaMode;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import javax.sql.DataSource;

/**
 * Brings the schema {@code carillon} to the number this version needs, or says why it cannot. Each file is applied exactly once, in order, and wholly
 * or not at all, no matter how many processes start together.
 */
public final class Migrator {
    /** What must exist before the first file; also part of what {@link #print} returns. A schema that exists needs no right on the database. */
    static final String BOOTSTRAP = """
            DO $$ BEGIN
              IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'carillon') THEN CREATE SCHEMA carillon; END IF;
            END $$;
            CREATE TABLE IF NOT EXISTS carillon.migration (
              number     integer PRIMARY KEY,
              name       text NOT NULL,
              checksum   text NOT NULL,
              min_code   integer NOT NULL,
              applied_at timestamptz NOT NULL
            );
            """;

    private static final String PRINTED = """
            -- Carillon: migrations %d to %d. Run by a user who may create tables in the schema carillon.
            -- %s
            """;
    private static final String IN_ONE =
            "Run it in one transaction (psql -1 -v ON_ERROR_STOP=1 -f, or one Flyway script).";
    private static final String NOT_IN_ONE =
            "It holds statements that cannot run inside a transaction: run it without one (psql -v ON_ERROR_STOP=1 -f, or Flyway with executeInTransaction=false).";

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final DataSource dataSource;
    private final List<Migration> files;
    private final Duration patience;

    /** A migrator on the database of this data source; the connections it borrows go back as they came. */
    public Migrator(DataSource dataSource) {
        this(dataSource, MigrationFiles.load(), PATIENCE);
    }

    private Migrator(DataSource dataSource, List<Migration> files, Duration patience) {
        this.dataSource = dataSource;
        this.files = files;
        this.patience = patience;
    }

    /** The same with another bound on each wait for a process that migrates already or for a lock on a table; 60 seconds unless said. */
    public Migrator patience(Duration atMost) {
        return new Migrator(dataSource, files, atMost);
    }

    /** The number of the newest migration this version knows: the number of its schema, and of this code in the eyes of {@code min_code}. */
    public int code() {
        return files.size();
    }

    /** Does what the mode says; returns only when the schema is fit for this version (or {@link SchemaMode#OFF} told it not to look). */
    public void run(SchemaMode mode) {
        if (mode == SchemaMode.OFF) return;
        inSession(connection -> {
            SchemaState state = SchemaState.read(connection);
            List<Migration> pending = state.pending(files);
            if (pending.isEmpty()) return state;
            if (mode == SchemaMode.VALIDATE) throw tooOld(state, pending);
            new MigrationRun(connection, dataSource::getConnection, files, patience).toTheEnd();
            return state;
        });
    }

    /** The number of the newest migration that was applied to the database; 0: none. */
    public int number() {
        return inSession(SchemaState::read).number();
    }

    private interface Look {
        SchemaState at(Connection connection) throws SQLException;
    }

    private SchemaState inSession(Look look) {
        try (Connection connection = connect()) {
            boolean autoCommit = connection.getAutoCommit();
            int socketTimeout = connection.getNetworkTimeout();
            connection.setAutoCommit(true);
            // An index build may take longer than a statement of an application.
            connection.setNetworkTimeout(Runnable::run, 0);
            if (Backend.pooled(connection)) Backend.preparingNothing(connection);
            try {
                return look.at(connection);
            } finally {
                MigrationSession.quietly(() -> connection.setAutoCommit(autoCommit));
                MigrationSession.quietly(() -> connection.setNetworkTimeout(Runnable::run, socketTimeout));
            }
        } catch (SQLException e) {
            throw new CarillonException(
                    ErrorCode.STORAGE,
                    "The schema carillon could not be read: %s. The user needs USAGE on the schema and SELECT on carillon.migration; SchemaMode.OFF starts without looking."
                            .formatted(MigrationSession.firstLine(e)),
                    e);
        }
    }

    /** The SQL of the files from this number on (1: all), with the rows of carillon.migration, to be applied by psql, Flyway or another tool. */
    public String print(int from) {
        List<Migration> printed =
                files.stream().filter(file -> file.number() >= from).toList();
        if (printed.isEmpty()) return "-- Carillon: nothing to apply from number %d on.\n".formatted(from);
        boolean inOne = printed.stream().allMatch(Migration::transactional);
        StringBuilder sql = new StringBuilder();
        sql.append(PRINTED.formatted(printed.get(0).number(), code(), inOne ? IN_ONE : NOT_IN_ONE));
        if (printed.get(0).number() == 1) sql.append('\n').append(BOOTSTRAP);
        for (Migration file : printed) {
            sql.append("\n-- ").append(file.file()).append('\n');
            sql.append(file.sql()).append('\n').append(file.entry());
        }
        return sql.toString();
    }

    private Connection connect() {
        try {
            return dataSource.getConnection();
        } catch (SQLException e) {
            throw new CarillonException(
                    ErrorCode.DATABASE_UNREACHABLE,
                    "No connection to the database for the schema check: %s. Check the address, the user and the size of the pool."
                            .formatted(MigrationSession.firstLine(e)),
                    e);
        }
    }

    private static CarillonException tooOld(SchemaState state, List<Migration> pending) {
        String missing = pending.stream().map(Migration::file).collect(Collectors.joining(", "));
        return new CarillonException(
                ErrorCode.SCHEMA_TOO_OLD,
                "The schema carillon is at number %d and lacks %s. Start once with SchemaMode.AUTO as a user who may create tables, or apply the SQL of Migrator.print(%d)."
                        .formatted(state.number(), missing, pending.get(0).number()));
    }
}
