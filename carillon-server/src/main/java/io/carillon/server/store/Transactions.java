package io.carillon.server.store;

import io.carillon.internal.jdbc.ConnectionSource;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Database.SessionWork;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.value.Uuid7;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
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
    private static final Duration STATEMENT_TIMEOUT = Duration.ofSeconds(10);
    private static final String NO_ROLE = "none";
    private static final String NO_PROJECT = "";

    private static final String BEGIN = """
            SELECT set_config('carillon.project', :project, true), set_config('role', :role, true),
                   set_config('statement_timeout', :statement, true), set_config('lock_timeout', :lock, true),
                   set_config('idle_in_transaction_session_timeout', '15s', true), carillon.clock() AS now
            """;

    private static final String ROW_SECURITY_POLICIES = """
            SELECT count(*) AS policies, set_config('role', 'carillon_api', true) FROM pg_policies
             WHERE schemaname = 'carillon' AND tablename = 'run' AND policyname = 'current_project_only'
            """;

    private final Database database;
    private final Uuid7.Sequence ids;
    private volatile @Nullable String role;

    public Transactions(DataSource source) {
        this(source, null);
    }

    private Transactions(DataSource source, @Nullable String role) {
        database = new Database(ConnectionSource.pool(source), STATEMENT_TIMEOUT, true);
        ids = new Uuid7.Sequence(database.clock());
        this.role = role;
    }

    /** Returns transactions with the rights of the user of the data source, for an application with one project. */
    public static Transactions withoutRowSecurity(DataSource source) {
        return new Transactions(source, NO_ROLE);
    }

    /** Determined on first use, because the tables may not exist earlier. */
    private String role() {
        String known = role;
        if (known != null) return known;
        boolean active = canUseRole();
        if (!active)
            log.warn("row-level security is not active: the role carillon_api is missing, or the server's user is not a"
                    + " member of it. As a user with CREATEROLE, call carillon.enable_row_security() and grant the role"
                    + " to the"
                    + " server's user");
        String found = active ? "carillon_api" : NO_ROLE;
        role = found;
        return found;
    }

    /** Sets the role as a test: whether a user may set a role depends on more than membership. */
    private boolean canUseRole() {
        try {
            return runAsServer(
                            session -> session.query(ROW_SECURITY_POLICIES).first(row -> row.integer("policies") > 0))
                    .orElse(false);
        } catch (StorageException failure) {
            // The role is missing, or the user may not set it.
            if (failure.sqlState().startsWith("22") || failure.sqlState().startsWith("42")) return false;
            throw failure;
        }
    }

    /**
     * Returns the database time, which each transaction reads. Servers whose own clocks differ therefore respond alike.
     */
    public Instant now() {
        return database.clock().now();
    }

    /** Returns a new id that contains the database time, because lists are ordered by id. */
    public UUID newId() {
        return ids.next();
    }

    /** Returns whether requests run under row-level security. */
    public boolean isRowSecurityActive() {
        return !role().equals(NO_ROLE);
    }

    /**
     * Runs work for one project in a transaction and commits it. After a deadlock or serialization failure the work
     * runs again, so it must change nothing but the database.
     */
    public <T> T runInProject(String project, SessionWork<T> work) {
        return runInProject(project, TimeLimits.OF_REQUEST, work);
    }

    /** Like {@link #runInProject(String, SessionWork)}, with other time limits. */
    public <T> T runInProject(String project, TimeLimits limits, SessionWork<T> work) {
        String as = role();
        return database.transaction(session -> begin(session, project, as, limits), work);
    }

    /** How long a statement may take, and how long it may wait for a lock, as PostgreSQL reads them. */
    public record TimeLimits(String statement, String lock) {
        public static final TimeLimits OF_REQUEST = new TimeLimits("10s", "2s");
    }

    /** Runs a short transaction with the server's rights, without row-level security. */
    <T> T runAsServer(SessionWork<T> work) {
        return database.transaction(session -> begin(session, NO_PROJECT, NO_ROLE, TimeLimits.OF_REQUEST), work);
    }

    /** Reads the time in the same round trip, so that ids and limits follow the database clock. */
    private Optional<Instant> begin(Session session, String project, String as, TimeLimits limits) throws SQLException {
        long sent = System.nanoTime();
        Optional<Instant> now = session.query(BEGIN)
                .text("project", project)
                .text("role", as)
                .text("statement", limits.statement())
                .text("lock", limits.lock())
                .first(row -> row.instant("now"));
        now.ifPresent(read -> database.clock().observe(read, sent));
        return now;
    }

    /** Executes one statement with the server's rights, without row-level security, such as finding a key. */
    <T> T runStatementAsServer(SessionWork<T> work) {
        return database.single(work);
    }

    /** Returns whether the database responds. */
    public boolean isReachable() {
        try {
            return runStatementAsServer(session -> session.query("SELECT 1").first(row -> true))
                    .isPresent();
        } catch (RuntimeException away) {
            return false;
        }
    }
}
