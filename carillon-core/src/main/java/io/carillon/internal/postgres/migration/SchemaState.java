package io.carillon.internal.postgres.migration;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.jdbc.Session;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The migrations that carillon.migration lists as applied, and the conclusions for a given set of files. */
record SchemaState(List<Applied> applied) {
    // Reads the catalog, because to_regclass would need permissions on the schema.
    private static final String TABLE_EXISTS = """
            SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = 'carillon' AND c.relname = 'migration'
            """;

    private static final String APPLIED = """
            SELECT number, name, checksum, min_code FROM carillon.migration ORDER BY number
            """;

    static final String NO_SUCH_TABLE = "42P01";

    /** One row of carillon.migration. */
    record Applied(int number, String name, String checksum, int minCode) {}

    SchemaState {
        applied = List.copyOf(applied);
    }

    /** Reads the state; a missing schema or table counts as no rows. */
    static SchemaState read(Connection connection) throws SQLException {
        Session session = new Session(connection, 0);
        boolean exists = session.query(TABLE_EXISTS).first(row -> true).isPresent();
        return new SchemaState(exists ? applied(session) : List.of());
    }

    /**
     * Reads the rows of a table that the catalog lists. While another process commits its creation, PostgreSQL may list
     * the table but not yet find it by its name, because a session learns of a commit before it learns that its cached
     * names are outdated. Such a table counts as missing: the migrator reads it again under the lock. An error inside a
     * transaction is reported, because the transaction cannot continue after it.
     */
    private static List<Applied> applied(Session session) throws SQLException {
        try {
            return session.query(APPLIED)
                    .list(row -> new Applied(
                            row.integer("number"), row.text("name"), row.text("checksum"), row.integer("min_code")));
        } catch (SQLException e) {
            if (NO_SUCH_TABLE.equals(e.getSQLState()) && session.connection().getAutoCommit()) return List.of();
            throw e;
        }
    }

    /** Returns the number of the newest migration; 0 for an empty database. */
    int number() {
        return applied.isEmpty() ? 0 : applied.get(applied.size() - 1).number();
    }

    /** Returns the files that are still to be applied, in order; rejects a schema that does not fit these files. */
    List<Migration> pending(List<Migration> files) {
        requireSameFiles(files);
        refuseIfTooNew(files.size());
        List<Migration> pending = new ArrayList<>(files);
        for (Applied row : applied) {
            if (row.number() <= files.size()) pending.remove(files.get(row.number() - 1));
        }
        if (!pending.isEmpty() && pending.get(0).number() < number()) throw missingMigration(pending.get(0));
        return pending;
    }

    /** Rejects a schema to which other files were applied under the same numbers, as by a pre-release. */
    void requireSameFiles(List<Migration> files) {
        for (Applied row : applied) {
            if (row.number() > files.size()) continue;
            Migration file = files.get(row.number() - 1);
            if (!file.name().equals(row.name()) || !file.checksum().equals(row.checksum())) throw otherFile(row, file);
        }
    }

    private void refuseIfTooNew(int code) {
        List<Applied> demanding =
                applied.stream().filter(row -> row.minCode() > code).toList();
        if (demanding.isEmpty()) return;
        throw new CarillonException(
                ErrorCode.SCHEMA_TOO_NEW,
                ("The schema carillon is at version %d and too new for this release of Carillon, which supports"
                                + " versions up to %d: %s. Start a newer release; this process changed nothing.")
                        .formatted(
                                number(),
                                code,
                                demanding.stream()
                                        .map(row -> "%04d_%s needs a release with schema version %d or later"
                                                .formatted(row.number(), row.name(), row.minCode()))
                                        .collect(Collectors.joining(", "))));
    }

    private static CarillonException otherFile(Applied row, Migration file) {
        return new CarillonException(
                ErrorCode.SCHEMA_CHANGED,
                ("The schema carillon was created by a pre-release of Carillon: migration %d was applied as %04d_%s"
                                + " (checksum %.12s), this release has %s (checksum %.12s). There is no upgrade before"
                                + " version 0.1: export the data you need, run DROP SCHEMA carillon CASCADE, and start"
                                + " again. If the file was edited after it was applied, restore it instead.")
                        .formatted(
                                row.number(), row.number(), row.name(), row.checksum(), file.file(), file.checksum()));
    }

    private CarillonException missingMigration(Migration missing) {
        return new CarillonException(
                ErrorCode.SCHEMA_CHANGED,
                ("Migration %s is missing in carillon.migration although version %d is applied. If its SQL was"
                                + " run by hand, insert its row as Schema.sql(%d), or 'carillon migrate --print'"
                                + " without a database, prints it; otherwise restore the database from before"
                                + " version %d.")
                        .formatted(missing.file(), number(), missing.number(), missing.number() + 1));
    }
}
