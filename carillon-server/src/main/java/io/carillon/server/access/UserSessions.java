package io.carillon.server.access;

import io.carillon.server.http.Caller;
import io.carillon.server.http.Problem;
import io.carillon.server.store.Role;
import io.carillon.server.store.UserRepository;
import io.carillon.server.store.UserRepository.Access;
import io.carillon.server.store.UserRepository.ValidSession;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Finds the sessions of users by their tokens. A session and the role of its user are cached for three seconds, so that
 * every node notices a logout and the removal of a member soon. A token is useful in a session cookie only, which is
 * encrypted, so that invented tokens do not reach the database.
 */
public final class UserSessions {
    /** The header that names the project of a request. A user may be a member of several. */
    public static final String PROJECT_HEADER = "X-Carillon-Project";
    /** The longest time that a session lasts. */
    public static final Duration LIFETIME = Duration.ofHours(12);
    /** A session that is not used for so long has ended. */
    public static final Duration IDLE = Duration.ofHours(2);

    static final String PREFIX = "crs_";
    private static final int TOKEN_BYTES = 32;
    private static final char SEPARATOR = ' ';
    private static final SecureRandom RANDOM = new SecureRandom();

    private final UserRepository users;
    private final String issuer;
    private final ShortCache<CachedSession> sessions = new ShortCache<>(this::readSession);
    private final ShortCache<CachedAccess> access = new ShortCache<>(this::readAccess);

    /** A session, and whether its next use is to be recorded. */
    private record CachedSession(ValidSession session, AtomicBoolean isUseStale) {}

    /**
     * Finds sessions.
     *
     * @param issuer the issuer of the users. A session of a user of another one is not accepted
     */
    public UserSessions(UserRepository users, String issuer) {
        this.users = users;
        this.issuer = issuer;
    }

    /** Returns a new random token. */
    public static String newToken() {
        byte[] bytes = new byte[TOKEN_BYTES];
        RANDOM.nextBytes(bytes);
        return PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** Returns the hash of a token, which is stored instead of it. */
    public static byte[] hash(String token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("SHA-256 is missing in this JDK", impossible);
        }
    }

    /**
     * Returns the session with this token; empty if it has ended.
     *
     * @param isUse whether this is a use of the session, which is recorded once a minute
     */
    Optional<ValidSession> find(String token, boolean isUse) {
        Optional<CachedSession> found = sessions.find(token);
        if (isUse && found.isPresent() && found.get().isUseStale().compareAndSet(true, false))
            users.markUsed(found.get().session().id());
        return found.map(CachedSession::session);
    }

    private Optional<CachedSession> readSession(String token) {
        return users.findSession(hash(token), issuer, IDLE)
                .map(session -> new CachedSession(session, new AtomicBoolean(session.isUseStale())));
    }

    /** What a user may access, and whether the first use of the project is to be recorded. */
    record CachedAccess(Access access, AtomicBoolean isFirstUse) {}

    /** Records that a user uses the project, unless that is known. */
    void markUsed(UUID user, CachedAccess used) {
        String project = used.access().project();
        if (project != null && used.isFirstUse().compareAndSet(true, false)) users.markUsed(user, project);
    }

    /** Returns what a user may access with a request that names this project, or none. */
    CachedAccess access(UUID user, Optional<String> project) {
        return access.find(user.toString() + SEPARATOR + project.orElse("")).orElseThrow();
    }

    private Optional<CachedAccess> readAccess(String name) {
        int end = name.indexOf(SEPARATOR);
        String project = name.substring(end + 1);
        return users.findAccess(UUID.fromString(name.substring(0, end)), project.isEmpty() ? null : project)
                .map(found -> new CachedAccess(found, new AtomicBoolean(found.isFirstUse())));
    }

    /** Returns the caller of a session. Without a project, it has no scopes. */
    static Caller caller(ValidSession session, Access access) {
        Role role = access.role();
        String project = access.project();
        return Caller.of(
                new Caller.SessionUser(session.user(), session.id(), session.endsAt()),
                project == null ? "" : project,
                role == null ? Set.of() : Set.of(role.scope()));
    }

    static Problem projectMissing() {
        return Problem.of(
                400,
                "project-missing",
                "You are a member of several projects. Name one of them in the header %s.".formatted(PROJECT_HEADER));
    }
}
