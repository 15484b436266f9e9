package io.carillon.postgres.migration;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** What carillon.migration says was applied, and what follows from it for a given set of files. */
record SchemaState(List<Applied> applied) {
    // By the catalog: to_regclass would need rights on the schema just to ask.
    private static final String TABLE_EXISTS = """
            SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = 'carillon' AND c.relname = 'migration'
            """;

    private static final String APPLIED = """
            SELECT number, name, checksum, min_code FROM carillon.migration ORDER BY number
            """;

    /** One row of carillon.migration. */
    record Applied(int number, String name, String checksum, int minCode) {}

    SchemaState {
        applied = List.copyOf(applied);
    }

    /** Reads the state; no schema and no table are the same as no rows. */
    static SchemaState read(Connection connection) throws SQLException {
        List<Applied> applied = new ArrayList<>();
        try (Statement statement = connection.createStatement()) {
            try (ResultSet exists = statement.executeQuery(TABLE_EXISTS)) {
                exists.next();
                if (exists.getInt(1) == 0) return new SchemaState(List.of());
            }
            try (ResultSet row = statement.executeQuery(APPLIED)) {
                while (row.next()) {
                    applied.add(new Applied(row.getInt(1), row.getString(2), row.getString(3), row.getInt(4)));
                }
            }
        }
        return new SchemaState(applied);
    }

    /** The number of the newest migration; 0 is an empty database. */
    int number() {
        return applied.isEmpty() ? 0 : applied.get(applied.size() - 1).number();
    }

    /** The files that are still to be applied, in order; refuses a schema on which these files are not at home. */
    List<Migration> pending(List<Migration> files) {
        refuseIfTooNew(files.size());
        List<Migration> pending = new ArrayList<>(files);
        for (Applied row : applied) {
            if (row.number() > files.size()) continue;
            Migration file = files.get(row.number() - 1);
            if (!file.checksum().equals(row.checksum())) throw changed(row, file);
            pending.remove(file);
        }
        if (!pending.isEmpty() && pending.get(0).number() < number()) throw hole(pending.get(0));
        return pending;
    }

    private void refuseIfTooNew(int code) {
        List<Applied> demanding =
                applied.stream().filter(row -> row.minCode() > code).toList();
        if (demanding.isEmpty()) return;
        throw new CarillonException(
                ErrorCode.SCHEMA_TOO_NEW,
                "The schema carillon is at number %d and no longer fits this version of Carillon, which knows the numbers up to %d: %s. Start a newer version here; this process changed nothing."
                        .formatted(
                                number(),
                                code,
                                demanding.stream()
                                        .map(row -> "%04d_%s needs code %d or later"
                                                .formatted(row.number(), row.name(), row.minCode()))
                                        .collect(Collectors.joining(", "))));
    }

    private static CarillonException changed(Applied row, Migration file) {
        return new CarillonException(
                ErrorCode.SCHEMA_CHANGED,
                "Migration %s is not the file that was applied to this database (applied as %04d_%s with checksum %.12s…, this version brings %.12s…). Applied files must not change: restore the file, or start the version of Carillon that made this schema."
                        .formatted(file.file(), row.number(), row.name(), row.checksum(), file.checksum()));
    }

    private CarillonException hole(Migration missing) {
        return new CarillonException(
                ErrorCode.SCHEMA_CHANGED,
                "Migration %s is missing in carillon.migration although number %d is applied. If its SQL was run by hand, enter its row as Migrator.print(%d) shows it; else restore the database from before number %d."
                        .formatted(missing.file(), number(), missing.number(), missing.number() + 1));
    }
}
