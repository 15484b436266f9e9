package io.carillon.server.store;

import io.carillon.internal.jdbc.Database.SessionWork;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Users, whom the identity provider identifies by issuer and subject, and their sessions. Both belong to no project:
 * they are read and written with the server's rights.
 */
public final class UserRepository {
    /** A user who has more sessions loses the oldest ones. */
    static final int MAX_SESSIONS = 20;

    private static final String COLUMNS =
            "SELECT id, issuer, subject, name, email, created_at, login_at FROM carillon.app_user ";

    private static final String GET = COLUMNS + "WHERE id = :id";

    private static final String LIST_BY_ID = COLUMNS + "WHERE id = ANY(:ids)";

    private static final String GET_OR_INSERT = """
            WITH inserted AS (INSERT INTO carillon.app_user (id, issuer, subject) VALUES (:id, :issuer, :subject)
              ON CONFLICT (issuer, subject) DO NOTHING RETURNING id)
            SELECT id FROM inserted UNION ALL
              SELECT id FROM (SELECT id FROM carillon.app_user
                               WHERE issuer = :issuer AND subject = :subject FOR KEY SHARE) known
            """;

    private static final String KEEP = "SELECT id FROM carillon.app_user WHERE id = :id FOR KEY SHARE";

    private static final String UNUSED = """
            u.login_at IS NULL
              AND NOT EXISTS (SELECT 1 FROM carillon.project_member m WHERE m.user_id = u.id)
              AND NOT EXISTS (SELECT 1 FROM carillon.project p WHERE p.owner = u.id)
            """;

    private static final String LOCK_UNUSED = """
            SELECT u.id FROM carillon.app_user u WHERE %s ORDER BY u.id LIMIT 1000 FOR UPDATE SKIP LOCKED
            """.formatted(UNUSED);

    // Begins after the users are locked, so that it sees the memberships that were added before.
    private static final String DELETE_UNUSED = "DELETE FROM carillon.app_user u WHERE u.id = ANY(:ids) AND " + UNUSED;

    private static final String SAVE_LOGIN = """
            INSERT INTO carillon.app_user AS u (id, issuer, subject, name, email, login_at)
            VALUES (:id, :issuer, :subject, :name, :email, carillon.clock())
            ON CONFLICT (issuer, subject) DO UPDATE SET name = excluded.name, email = excluded.email,
              login_at = excluded.login_at
            RETURNING u.id
            """;

    private static final String INSERT_SESSION = """
            INSERT INTO carillon.user_session (id, user_id, hash, expires_at, address, browser)
            VALUES (:id, :user, :hash, carillon.clock() + make_interval(secs => :lifetime), :address, :browser)
            RETURNING expires_at
            """;

    private static final String DELETE_OLDEST_SESSIONS = """
            DELETE FROM carillon.user_session WHERE id IN (SELECT id FROM carillon.user_session
             WHERE user_id = :user ORDER BY created_at DESC, id DESC OFFSET :most)
            """;

    private static final String VALID =
            "s.expires_at > carillon.clock() AND s.used_at > carillon.clock()" + " - make_interval(secs => :idle)";

    private static final String FIND_SESSION = """
            SELECT s.id, s.user_id, least(s.expires_at, s.used_at + make_interval(secs => :idle)) AS ends_at,
                   s.used_at < carillon.clock() - interval '1 minute' AS stale
              FROM carillon.user_session s
              JOIN carillon.app_user u ON u.id = s.user_id AND u.issuer = :issuer
             WHERE s.hash = :hash AND %s
            """.formatted(VALID);

    // If the request names no project, the user must have used exactly one, or be a member of exactly one. So a project
    // to which another user adds this one changes nothing.
    private static final String FIND_ACCESS = """
            SELECT m.project, m.role, m.projects, m.unused, p.requests_per_second
              FROM (SELECT (array_agg(f.project ORDER BY f.unused, f.project))[1] AS project,
                           (array_agg(f.role ORDER BY f.unused, f.project))[1] AS role,
                           coalesce(bool_and(f.unused), false) AS unused,
                           CASE WHEN count(*) FILTER (WHERE NOT f.unused) = 1 THEN 1 ELSE count(*) END AS projects
                      FROM (SELECT project, role, used_at IS NULL AS unused FROM carillon.project_member
                             WHERE user_id = :user AND project = coalesce(:project, project)
                             ORDER BY used_at IS NULL, project LIMIT 2) f) m
              LEFT JOIN carillon.project p ON p.project = m.project
            """;

    private static final String MARK_PROJECT_USED = """
            UPDATE carillon.project_member SET used_at = carillon.clock()
             WHERE project = :project AND user_id = :user AND used_at IS NULL
            """;

    private static final String MARK_USED = """
            UPDATE carillon.user_session SET used_at = carillon.clock()
             WHERE id = :id AND used_at < carillon.clock() - interval '1 minute'
            """;

    private static final String LIST_SESSIONS = """
            SELECT s.id, s.created_at, s.used_at, s.expires_at, s.address, s.browser FROM carillon.user_session s
             WHERE s.user_id = :user AND %s ORDER BY s.created_at DESC, s.id DESC LIMIT %d
            """.formatted(VALID, MAX_SESSIONS);

    private static final String DELETE_SESSION = "DELETE FROM carillon.user_session WHERE user_id = :user AND id = :id";

    private static final String DELETE_EXPIRED = """
            DELETE FROM carillon.user_session WHERE id IN (
              SELECT id FROM carillon.user_session WHERE expires_at < carillon.clock() LIMIT 10000)
            """;

    private final Transactions transactions;

    public UserRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /**
     * A user. The name and the e-mail are what the provider said, and identify no one.
     *
     * @param loginAt null if the user has not logged in
     */
    public record StoredUser(
            UUID id,
            String issuer,
            String subject,
            @Nullable String name,
            @Nullable String email,
            Instant createdAt,
            @Nullable Instant loginAt) {}

    /** What the provider says of a user at a login. */
    public record Login(
            String issuer,
            String subject,
            @Nullable String name,
            @Nullable String email) {}

    /** A session to store; {@code hash} is that of its token. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record NewSession(byte[] hash, Duration lifetime, String address, String browser) {}

    /** A session of a user. */
    public record StoredSession(
            UUID id, Instant createdAt, Instant usedAt, Instant expiresAt, String address, String browser) {}

    /**
     * A session that has not ended.
     *
     * @param isUseStale whether the last recorded use is older than a minute
     */
    public record ValidSession(UUID id, UUID user, Instant endsAt, boolean isUseStale) {}

    /**
     * What a user may access.
     *
     * @param project null if the request names none and the user is not a member of exactly one, or if the user is not
     *     a member of the project that it names
     * @param isFirstUse whether the user has not used the project yet
     * @param hasSeveral whether the request names no project, and the user has several
     */
    public record Access(
            @Nullable String project,
            @Nullable Role role,
            boolean isFirstUse,
            boolean hasSeveral,
            @Nullable Double requestsPerSecond) {}

    /** Runs work with the server's rights. */
    public <T> T runAsServer(SessionWork<T> work) {
        return transactions.runAsServer(work);
    }

    public Optional<StoredUser> find(UUID id) {
        return transactions.runStatementAsServer(session -> get(session, id));
    }

    /** Returns a user; with the role of requests, only one who is a member of the current project. */
    public Optional<StoredUser> get(Session session, UUID id) throws SQLException {
        return session.query(GET).uuid("id", id).first(UserRepository::read);
    }

    /** Returns these users by their ids; those that do not exist, or are not visible, are left out. */
    public Map<UUID, StoredUser> getAll(Session session, Collection<UUID> ids) throws SQLException {
        Map<UUID, StoredUser> found = new TreeMap<>();
        if (ids.isEmpty()) return found;
        for (StoredUser user : session.query(LIST_BY_ID).uuids("ids", ids).list(UserRepository::read))
            found.put(user.id(), user);
        return found;
    }

    /**
     * Returns the id of the user whom the provider knows by this subject; creates the user, who need not log in first.
     * The user exists until the end of the transaction.
     */
    public UUID getOrInsert(Session session, String issuer, String subject) throws SQLException {
        for (int turn = 0; turn < 3; turn++) {
            Optional<UUID> found = session.query(GET_OR_INSERT)
                    .uuid("id", transactions.newId())
                    .text("issuer", issuer)
                    .text("subject", subject)
                    .first(row -> row.uuid("id"));
            if (found.isPresent()) return found.get();
        }
        throw new IllegalStateException("could not read or create the user");
    }

    /** Keeps a user until the end of the transaction. Returns false if there is no such user. */
    public boolean keep(Session session, UUID id) throws SQLException {
        return session.query(KEEP).uuid("id", id).first(row -> true).orElse(false);
    }

    /** Records a login and returns the id of the user, who is created at the first one. */
    public UUID saveLogin(Session session, Login login) throws SQLException {
        return session.query(SAVE_LOGIN)
                .uuid("id", transactions.newId())
                .text("issuer", login.issuer())
                .text("subject", login.subject())
                .text("name", login.name())
                .text("email", login.email())
                .first(row -> row.uuid("id"))
                .orElseThrow();
    }

    /** Stores a session and returns its end. The oldest sessions of the user end if there are too many. */
    public Instant insertSession(Session session, UUID user, NewSession wanted) throws SQLException {
        Instant end = session.query(INSERT_SESSION)
                .uuid("id", transactions.newId())
                .uuid("user", user)
                .bytes("hash", wanted.hash())
                .seconds("lifetime", wanted.lifetime())
                .text("address", wanted.address())
                .text("browser", wanted.browser())
                .first(row -> row.instant("expires_at"))
                .orElseThrow();
        session.query(DELETE_OLDEST_SESSIONS)
                .uuid("user", user)
                .number("most", MAX_SESSIONS)
                .update();
        return end;
    }

    /** Returns the session with this hash; empty if it has ended, or its user is one of another issuer. */
    public Optional<ValidSession> findSession(byte[] hash, String issuer, Duration idle) {
        return transactions.runStatementAsServer(session -> session.query(FIND_SESSION)
                .bytes("hash", hash)
                .text("issuer", issuer)
                .seconds("idle", idle)
                .first(row -> new ValidSession(
                        row.uuid("id"), row.uuid("user_id"), row.instant("ends_at"), row.flag("stale"))));
    }

    /**
     * Returns what a user may access.
     *
     * @param project the project that the request names; null if it names none
     */
    public Optional<Access> findAccess(UUID user, @Nullable String project) {
        return transactions.runStatementAsServer(session -> session.query(FIND_ACCESS)
                .uuid("user", user)
                .text("project", project)
                .first(UserRepository::readAccess));
    }

    private static Access readAccess(Row row) throws SQLException {
        boolean one = row.number("projects") == 1;
        String role = row.maybeText("role");
        return new Access(
                one ? row.maybeText("project") : null,
                one && role != null ? Role.of(role) : null,
                one && row.flag("unused"),
                row.number("projects") > 1,
                one ? row.maybeReal("requests_per_second") : null);
    }

    /** Records that the session is used now, at most once a minute. */
    public void markUsed(UUID id) {
        transactions.runStatementAsServer(
                session -> session.query(MARK_USED).uuid("id", id).update());
    }

    /** Records that a user has used a project. */
    public void markUsed(UUID user, String project) {
        transactions.runStatementAsServer(session -> session.query(MARK_PROJECT_USED)
                .text("project", project)
                .uuid("user", user)
                .update());
    }

    /** Returns the sessions of a user that have not ended, newest first. */
    public List<StoredSession> listSessions(UUID user, Duration idle) {
        return transactions.runStatementAsServer(session -> session.query(LIST_SESSIONS)
                .uuid("user", user)
                .seconds("idle", idle)
                .list(row -> new StoredSession(
                        row.uuid("id"),
                        row.instant("created_at"),
                        row.instant("used_at"),
                        row.instant("expires_at"),
                        row.text("address"),
                        row.text("browser"))));
    }

    /** Ends a session of this user. Returns false if there is no such session. */
    public boolean deleteSession(Session session, UUID user, UUID id) throws SQLException {
        return session.query(DELETE_SESSION).uuid("user", user).uuid("id", id).update() == 1;
    }

    /** Deletes sessions that have ended, at most 10,000 at a time, and returns their number. */
    public int deleteExpired() {
        return transactions.runStatementAsServer(
                session -> session.query(DELETE_EXPIRED).update());
    }

    /**
     * Deletes users who never logged in, are members of no project and own none, at most 1,000 at a time, and returns
     * their number.
     */
    public int deleteUnused() {
        return transactions.runAsServer(session -> {
            List<UUID> unused = session.query(LOCK_UNUSED).list(row -> row.uuid("id"));
            return unused.isEmpty()
                    ? 0
                    : session.query(DELETE_UNUSED).uuids("ids", unused).update();
        });
    }

    private static StoredUser read(Row row) throws SQLException {
        return new StoredUser(
                row.uuid("id"),
                row.text("issuer"),
                row.text("subject"),
                row.maybeText("name"),
                row.maybeText("email"),
                row.instant("created_at"),
                row.maybeInstant("login_at"));
    }
}
