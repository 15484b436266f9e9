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
 * Runs each request in one transaction: its change, the audit entry and the stored response commit together. The
 * transaction uses the role {@code carillon_api}, which sees one project only, if that role exists.
 */
public final class Transactions {
    private static final Logger log = LoggerFactory.getLogger(Transactions.class);
    private static final int MAX_TRIES = 4;
    /** Longer than the statement timeout: a database that sends nothing for this long is treated as unreachable. */
    private static final int NETWORK_TIMEOUT_MILLIS = 15_000;

    private static final Set<String> RETRYABLE_SQL_STATES = Set.of("40001", "40P01");

    private static final String BEGIN_FOR_PROJECT = """
            SELECT set_config('carillon.project', ?, true), set_config('role', ?, true), set_config('statement_timeout', '10s', true),
                   set_config('lock_timeout', '2s', true), set_config('idle_in_transaction_session_timeout', '15s', true), carillon.clock() AS now
            """;

    private static final String ROW_SECURITY_POLICIES = """
            SELECT count(*) AS policies, set_config('role', 'carillon_api', true) FROM pg_policies
             WHERE schemaname = 'carillon' AND tablename = 'run' AND policyname = 'one_project'
            """;

    private final DataSource source;
    private final DatabaseClock clock = new DatabaseClock();
    private final Uuid7.Sequence ids = new Uuid7.Sequence(clock);
    private volatile @Nullable String role;

    public Transactions(DataSource source) {
        this.source = source;
    }

    /** Determined on first use, because the tables may not exist earlier. */
    private String role() {
        String known = role;
        if (known != null) return known;
        boolean active = isRowSecurityActive(source);
        if (!active)
            log.warn("row-level security is not active: the role carillon_api is missing, or the server's user is not a"
                    + " member of it. As a user with CREATEROLE, call carillon.raise_wall() and grant the role to the"
                    + " server's user");
        String found = active ? "carillon_api" : "none";
        role = found;
        return found;
    }

    /** Sets the role as a test: whether a user may set a role depends on more than membership. */
    private boolean isRowSecurityActive(DataSource source) {
        try (Connection connection = source.getConnection()) {
            return runAndCommit(
                    connection,
                    "",
                    "none",
                    same -> Sql.first(same, ROW_SECURITY_POLICIES, row -> row.getInt("policies") > 0)
                            .orElse(false));
        } catch (SQLException failure) {
            String state = String.valueOf(failure.getSQLState());
            // The role is missing, or the user may not set it.
            if (state.startsWith("22") || state.startsWith("42")) return false;
            throw Sql.toException(failure);
        }
    }

    /** Code that runs in a transaction. */
    @FunctionalInterface
    public interface Work<T> {
        T run(Connection connection) throws SQLException;
    }

    /**
     * Returns the database time, which each transaction reads. Servers whose own clocks differ therefore respond alike.
     */
    public Instant now() {
        return clock.now();
    }

    /** Returns a new id that contains the database time, because lists are ordered by id. */
    public UUID newId() {
        return ids.next();
    }

    /** Returns whether requests run under row-level security. */
    public boolean isRowSecurityActive() {
        return !role().equals("none");
    }

    /**
     * Runs work for one project in a transaction and commits it. After a deadlock or serialization failure the work
     * runs again, so it must change nothing but the database.
     */
    public <T> T runInProject(String project, Work<T> work) {
        String as = role();
        for (int turn = 1; ; turn++) {
            try (Connection connection = source.getConnection()) {
                return runAndCommit(connection, project, as, work);
            } catch (SQLException failure) {
                if (turn == MAX_TRIES || !RETRYABLE_SQL_STATES.contains(String.valueOf(failure.getSQLState())))
                    throw Sql.toException(failure);
            } catch (RuntimeException failure) {
                if (turn == MAX_TRIES || !isRetryable(failure)) throw failure;
            }
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(turn * 10_000_000L));
        }
    }

    private static boolean isRetryable(RuntimeException failure) {
        return failure.getCause() instanceof SQLException sql
                && RETRYABLE_SQL_STATES.contains(String.valueOf(sql.getSQLState()));
    }

    private <T> T runAndCommit(Connection connection, String project, String as, Work<T> work) throws SQLException {
        ConnectionSettings before = configure(connection, false);
        try {
            long sent = System.nanoTime();
            Sql.first(connection, BEGIN_FOR_PROJECT, row -> Sql.requiredInstant(row, "now"), project, as)
                    .ifPresent(now -> clock.observe(now, sent));
            T result = work.run(connection);
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

    /** The settings of a connection before this class changed them. */
    private record ConnectionSettings(boolean autoCommit, int networkTimeoutMillis) {}

    private static ConnectionSettings configure(Connection connection, boolean autoCommit) throws SQLException {
        ConnectionSettings before = new ConnectionSettings(connection.getAutoCommit(), connection.getNetworkTimeout());
        connection.setNetworkTimeout(Runnable::run, NETWORK_TIMEOUT_MILLIS);
        if (before.autoCommit() != autoCommit) connection.setAutoCommit(autoCommit);
        return before;
    }

    private static void restore(Connection connection, ConnectionSettings before) {
        try {
            if (connection.isClosed()) return;
            connection.setAutoCommit(before.autoCommit());
            connection.setNetworkTimeout(Runnable::run, before.networkTimeoutMillis());
        } catch (SQLException broken) {
            log.debug("could not restore the settings of a connection; the pool detects the broken connection", broken);
        }
    }

    /** Executes one statement with the server's rights, without row-level security, such as finding a key. */
    <T> T runStatementAsServer(Work<T> work) {
        try (Connection connection = source.getConnection()) {
            ConnectionSettings before = configure(connection, true);
            try {
                return work.run(connection);
            } finally {
                restore(connection, before);
            }
        } catch (SQLException failure) {
            throw Sql.toException(failure);
        }
    }

    /** Runs a short transaction with the server's rights, without row-level security. */
    <T> T runAsServer(Work<T> work) {
        try (Connection connection = source.getConnection()) {
            return runAndCommit(connection, "", "none", work);
        } catch (SQLException failure) {
            throw Sql.toException(failure);
        }
    }

    /** Returns whether the database responds. */
    public boolean isReachable() {
        try {
            return runStatementAsServer(connection -> Sql.list(connection, "SELECT 1", row -> 1))
                    .equals(List.of(1));
        } catch (RuntimeException away) {
            return false;
        }
    }
}
