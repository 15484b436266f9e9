package io.carillon.it.migration;

import io.carillon.testkit.TestDatabase;
import java.util.List;

/** The definition of the schema carillon from the PostgreSQL catalog, as lines that can be compared. */
final class Catalog {
    private static final String OBJECTS = """
            SELECT 'table ' || c.relname || ' ' || c.relkind::text || ' ' || coalesce(c.reloptions::text, '')
              FROM pg_class c WHERE c.relnamespace = 'carillon'::regnamespace
            UNION ALL
            SELECT 'column ' || a.attrelid::regclass || '.' || a.attname || ' ' || a.attnum || ' '
              || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull || ' '
                   || coalesce(a.attcollation::regcollation::text, '') || ' '
                     || coalesce(pg_get_expr(d.adbin, d.adrelid), '')
              FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid
                AND d.adnum = a.attnum
             WHERE c.relnamespace = 'carillon'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0
            UNION ALL
            SELECT 'index ' || pg_get_indexdef(i.indexrelid) || ' ' || i.indisvalid FROM pg_index i
              JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = 'carillon'::regnamespace
            UNION ALL
            SELECT 'constraint ' || conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
              WHERE connamespace = 'carillon'::regnamespace AND conrelid <> 0
            UNION ALL
            SELECT 'function ' || pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'carillon'::regnamespace
            ORDER BY 1
            """;

    private static final String SCHEMA_EXISTS = "SELECT count(*) FROM pg_namespace WHERE nspname = 'carillon'";

    private static final String MIGRATIONS = """
            SELECT number || ' ' || name || ' ' || checksum || ' ' || min_code || ' '
              || (abs(extract(epoch FROM clock_timestamp() - applied_at)) < 60)
              FROM carillon.migration ORDER BY number
            """;

    private Catalog() {}

    /** Returns all tables, columns, indexes, constraints and functions. */
    static List<String> objects(TestDatabase database) {
        return schemaExists(database) ? database.query(OBJECTS).texts() : List.of();
    }

    static boolean schemaExists(TestDatabase database) {
        return database.query(SCHEMA_EXISTS).texts().equals(List.of("1"));
    }

    /**
     * Returns number, name, checksum and min_code of each applied file, and whether it was applied within
     * the last minute.
     */
    static List<String> migrations(TestDatabase database) {
        return database.query(MIGRATIONS).texts();
    }
}
