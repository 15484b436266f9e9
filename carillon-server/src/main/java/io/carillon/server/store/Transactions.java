package io.carillon.server.store;

import io.carillon.value.DatabaseClock;
import io.carillon.value.Uuid7;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One transaction for one request: what it changes, the audit of that and the answer to be repeated commit together. It runs as the role
 * {@code carillon_api}, which sees one project only, wherever that role exists.
 */
public final class Transactions {
    private static final Logger log = LoggerFactory.getLogger(Transactions.class);
    private static final int TURNS = 4;
    /** Longer than any statement may take: a database that says nothing at all is away. */
    private static final int SILENT_MILLIS = 15_000;

    private static final Set<String> REPEATABLE = Set.of("40001", "40P01");

    private static final String ENTER = """
            SELECT set_config('carillon.project', ?, true), set_config('role', ?, true), set_config('statement_timeout', '10s', true),
                   set_config('lock_timeout', '2s', true), set_config('idle_in_transaction_session_timeout', '15s', true), carillon.clock() AS now
            """;

    private static final String WALLED = """
            SELECT count(*) AS walls, set_config('role', 'carillon_api', true) FROM pg_policies
             WHERE schemaname = 'carillon' AND tablename = 'run' AND policyname = 'one_project'
            """;

    private final DataSource source;
    private final DatabaseClock clock = new DatabaseClock();
    private final Uuid7.Sequence ids = new Uuid7.Sequence(clock);
    private volatile @Nullable String role;

    public Transactions(DataSource source) {
        this.source = source;
    }

    /** Found out when it is first needed: the tables may not be there before. */
    private String role() {
        String known = role;
        if (known != null) return known;
        boolean walled = walled(source);
        if (!walled)
            log.warn("projects have one wall less: the role carillon_api is missing, or this user is no member of it."
                    + " Let a user who may make roles call carillon.raise_wall(), and grant the role");
        String found = walled ? "carillon_api" : "none";
        role = found;
        return found;
    }

    /** Tries it: whether a user may take on a role depends on more than on being a member. */
    private boolean walled(DataSource source) {
        try (Connection connection = source.getConnection()) {
            return committed(
                    connection,
                    "",
                    "none",
                    same -> Sql.first(same, WALLED, row -> row.getInt("walls") > 0)
                            .orElse(false));
        } catch (SQLException failure) {
            String state = String.valueOf(failure.getSQLState());
            // The role is missing, or may not be taken on.
            if (state.startsWith("22") || state.startsWith("42")) return false;
            throw Sql.failed(failure);
        }
    }

    /** Work in a transaction. */
    @FunctionalInterface
    public interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    /** Returns the database's time, which each transaction reads: servers whose own clocks differ answer alike. */
    public Instant now() {
        return clock.now();
    }

    /** Returns a new id that carries the database's time: lists are ordered by ids. */
    public UUID newId() {
        return ids.next();
    }

    /** Whether the second wall stands. */
    public boolean walled() {
        return !role().equals("none");
    }

    /** Does the work for one project and commits it; deadlocks are repeated, so the work may run more than once and must change nothing but the database. */
    public <T> T in(String project, Work<T> work) {
        String as = role();
        for (int turn = 1; ; turn++) {
            try (Connection connection = source.getConnection()) {
                return committed(connection, project, as, work);
            } catch (SQLException failure) {
                if (turn == TURNS || !REPEATABLE.contains(String.valueOf(failure.getSQLState())))
                    throw Sql.failed(failure);
            } catch (RuntimeException failure) {
                if (turn == TURNS || !repeatable(failure)) throw failure;
            }
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(turn * 10_000_000L));
        }
    }

    private static boolean repeatable(RuntimeException failure) {
        return failure.getCause() instanceof SQLException sql && REPEATABLE.contains(String.valueOf(sql.getSQLState()));
    }

    private <T> T committed(Connection connection, String project, String as, Work<T> work) throws SQLException {
        Manners before = impatient(connection, false);
        try {
            long sent = System.nanoTime();
            Sql.first(connection, ENTER, row -> Sql.instantThere(row, "now"), project, as)
                    .ifPresent(now -> clock.observe(now, sent));
            T result = work.on(connection);
            connection.commit();
            return result;
        } catch (SQLException | RuntimeException | Error failure) {
            rollBack(connection, failure);
            throw failure;
        } finally {
            restore(connection, before);
        }
    }

    private static void rollBack(Connection connection, Throwable failure) {
        try {
            connection.rollback();
        } catch (SQLException alsoBroken) {
            failure.addSuppressed(alsoBroken);
        }
    }

    /** How a connection was before it was borrowed. */
    private record Manners(boolean autoCommit, int silentMillis) {}

    private static Manners impatient(Connection connection, boolean autoCommit) throws SQLException {
        Manners before = new Manners(connection.getAutoCommit(), connection.getNetworkTimeout());
        connection.setNetworkTimeout(Runnable::run, SILENT_MILLIS);
        if (before.autoCommit() != autoCommit) connection.setAutoCommit(autoCommit);
        return before;
    }

    private static void restore(Connection connection, Manners before) {
        try {
            if (connection.isClosed()) return;
            connection.setAutoCommit(before.autoCommit());
            connection.setNetworkTimeout(Runnable::run, before.silentMillis());
        } catch (SQLException broken) {
            log.debug("a connection could not be put right; its pool will find out", broken);
        }
    }

    /** One statement for the house itself, outside the wall: who calls, what to sign with. */
    <T> T single(Work<T> work) {
        try (Connection connection = source.getConnection()) {
            Manners before = impatient(connection, true);
            try {
                return work.on(connection);
            } finally {
                restore(connection, before);
            }
        } catch (SQLException failure) {
            throw Sql.failed(failure);
        }
    }

    /** A short transaction for the house itself, outside the wall. */
    <T> T house(Work<T> work) {
        try (Connection connection = source.getConnection()) {
            return committed(connection, "", "none", work);
        } catch (SQLException failure) {
            throw Sql.failed(failure);
        }
    }

    /** Whether the database answers. */
    public boolean reachable() {
        try {
            return single(connection -> Sql.list(connection, "SELECT 1", row -> 1))
                    .equals(List.of(1));
        } catch (RuntimeException away) {
            return false;
        }
    }
}
