package io.carillon.testkit;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.testkit.internal.server.Sql;
import io.carillon.testkit.internal.server.TestServer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import javax.sql.DataSource;

/**
 * The clock of a test database, which can be stopped at an instant or run ahead of real time. It controls every node on
 * that database, because Carillon uses no other clock. Each change wakes the nodes. Works only on databases created by
 * the test kit.
 */
public final class TestClock {
    private static final String FIND_FOREIGN_DATABASE = """
            SELECT datname FROM pg_catalog.pg_database
             WHERE datname = current_database() AND shobj_description(oid, 'pg_database') IS DISTINCT FROM :comment
            """;

    // The lock prevents that two processes create the same schema concurrently, which would violate a unique index of
    // the catalog.
    private static final String INSTALL = """
            DO $install$ BEGIN
              PERFORM pg_advisory_xact_lock(hashtext('carillon_test'));
              IF EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'carillon_test') THEN RETURN; END IF;
              CREATE SCHEMA carillon_test;
              CREATE TABLE carillon_test.clock (stopped_at timestamptz, time_offset interval NOT NULL);
              INSERT INTO carillon_test.clock VALUES (NULL, '0');
              CREATE OR REPLACE FUNCTION carillon.clock() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
                SELECT coalesce(stopped_at, statement_timestamp() + time_offset) FROM carillon_test.clock
              $$;
            END $install$
            """;

    // Each change and its notification are one statement, so that a woken node reads the new time.
    private static final String STOP_AT = """
            WITH moved AS (UPDATE carillon_test.clock SET stopped_at = :instant)
            SELECT pg_notify('carillon', 'check')
            """;

    private static final String ADVANCE = """
            WITH moved AS (
              UPDATE carillon_test.clock
                 SET stopped_at = stopped_at + step,
                     time_offset = CASE WHEN stopped_at IS NULL THEN time_offset + step ELSE time_offset END
                FROM (SELECT :micros * interval '1 microsecond' AS step) s)
            SELECT pg_notify('carillon', 'check')
            """;

    private static final String USE_REAL_TIME = """
            WITH moved AS (UPDATE carillon_test.clock SET stopped_at = NULL, time_offset = '0')
            SELECT pg_notify('carillon', 'check')
            """;

    private static final String NOW = "SELECT carillon.clock() AS now";
    private static final String IS_STOPPED = "SELECT stopped_at IS NOT NULL AS stopped FROM carillon_test.clock";

    private final Sql sql;

    private TestClock(Sql sql) {
        this.sql = sql;
    }

    /** Returns the clock of a database created by the test kit. Rejects any other database. */
    public static TestClock on(DataSource dataSource) {
        Sql sql = new Sql(dataSource);
        List<String> foreign = sql.call(session -> session.query(FIND_FOREIGN_DATABASE)
                .text("comment", TestServer.DATABASE_COMMENT)
                .list(row -> row.text("datname")));
        if (!foreign.isEmpty()) {
            throw new CarillonException(
                    ErrorCode.UNSUITABLE_DATA_SOURCE,
                    ("The database %s was not created by the test kit, so tests must not change its clock. Use a"
                                    + " TestDatabase.")
                            .formatted(foreign));
        }
        sql.run(INSTALL);
        return new TestClock(sql);
    }

    /** Stops the clock at this instant, truncated to microseconds. */
    public void stopAt(Instant instant) {
        sql.call(session -> session.query(STOP_AT).instant("instant", instant).list(row -> row));
    }

    /** Advances the clock. A stopped clock stays stopped at the new time, a running clock continues from there. */
    public void advance(Duration by) {
        long micros = by.toSeconds() * 1_000_000 + by.toNanosPart() / 1_000;
        sql.call(session -> session.query(ADVANCE).number("micros", micros).list(row -> row));
    }

    /** Returns to real time. */
    public void useRealTime() {
        sql.call(session -> session.query(USE_REAL_TIME).list(row -> row));
    }

    /** Returns the current time of the database clock. */
    public Instant now() {
        return sql.call(session -> session.query(NOW).first(row -> row.instant("now")))
                .orElseThrow();
    }

    /** Returns whether the clock is stopped. */
    public boolean isStopped() {
        return sql.call(session -> session.query(IS_STOPPED).first(row -> row.flag("stopped")))
                .orElseThrow();
    }
}
