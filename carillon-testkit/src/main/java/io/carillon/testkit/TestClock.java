package io.carillon.testkit;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import javax.sql.DataSource;

/**
 * The clock of one test database: it stands still at an instant, or runs ahead of real time. Every node on that database lives by it, since nothing in
 * Carillon asks another clock, and each change wakes them. Works only on databases the kit made.
 */
public final class TestClock {
    private static final String FOREIGN = """
            SELECT datname FROM pg_catalog.pg_database
             WHERE datname = current_database() AND shobj_description(oid, 'pg_database') IS DISTINCT FROM ?
            """;

    // Under a lock: two that make the same schema at the same time would meet in a unique index of the catalog.
    private static final String INSTALL = """
            DO $install$ BEGIN
              PERFORM pg_advisory_xact_lock(hashtext('carillon_test'));
              IF EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'carillon_test') THEN RETURN; END IF;
              CREATE SCHEMA carillon_test;
              CREATE TABLE carillon_test.clock (stands timestamptz, ahead interval NOT NULL);
              INSERT INTO carillon_test.clock VALUES (NULL, '0');
              CREATE OR REPLACE FUNCTION carillon.clock() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
                SELECT coalesce(stands, statement_timestamp() + ahead) FROM carillon_test.clock
              $$;
            END $install$
            """;

    // Each change and its wake-up are one statement: whoever is woken sees the new time.
    private static final String AT = """
            WITH moved AS (UPDATE carillon_test.clock SET stands = ?)
            SELECT pg_notify('carillon', 'look')
            """;

    private static final String ADVANCE = """
            WITH moved AS (
              UPDATE carillon_test.clock SET stands = stands + step, ahead = CASE WHEN stands IS NULL THEN ahead + step ELSE ahead END
                FROM (SELECT ? * interval '1 microsecond' AS step) s)
            SELECT pg_notify('carillon', 'look')
            """;

    private static final String FREE = """
            WITH moved AS (UPDATE carillon_test.clock SET stands = NULL, ahead = '0')
            SELECT pg_notify('carillon', 'look')
            """;

    private static final String NOW = "SELECT carillon.clock()";
    private static final String STANDS = "SELECT stands IS NOT NULL FROM carillon_test.clock";

    private final Sql sql;

    private TestClock(Sql sql) {
        this.sql = sql;
    }

    /** The clock of a database the kit made; refuses any other. */
    public static TestClock on(DataSource dataSource) {
        Sql sql = new Sql(dataSource);
        List<String> foreign = sql.list(FOREIGN, row -> row.getString(1), TestServer.MARK);
        if (!foreign.isEmpty()) {
            throw new CarillonException(
                    ErrorCode.UNSUITABLE_DATA_SOURCE,
                    "The database %s was not made by the test kit, and its clock is not for tests to move. Take a TestDatabase."
                            .formatted(foreign));
        }
        sql.run(INSTALL);
        return new TestClock(sql);
    }

    /** Stops the clock at this instant; what is finer than a microsecond is cut off. */
    public void at(Instant instant) {
        change(AT, OffsetDateTime.ofInstant(instant, ZoneOffset.UTC));
    }

    /** Moves the clock on: a stopped clock stands still again afterwards, a running one runs on from there. */
    public void advance(Duration by) {
        change(ADVANCE, by.toSeconds() * 1_000_000 + by.toNanosPart() / 1_000);
    }

    /** Real time again. */
    public void free() {
        change(FREE);
    }

    /** What Carillon takes for the present. */
    public Instant now() {
        return sql.one(NOW, row -> row.getObject(1, OffsetDateTime.class).toInstant());
    }

    /** Whether the clock stands still. */
    public boolean stands() {
        return sql.one(STANDS, row -> row.getBoolean(1));
    }

    private void change(String statement, Object... parameters) {
        sql.one(statement, row -> "woken", parameters);
    }
}
