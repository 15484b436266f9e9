package io.carillon.server.access;

import io.carillon.internal.value.Names;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.Authenticator;
import io.carillon.server.http.Caller;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.store.ApiKeyRepository;
import io.carillon.server.store.ProjectRepository;
import io.carillon.server.store.UserRepository;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Identifies callers by their bearer key or token, before it counts guesses: a caller with a valid one never waits for
 * others. The number of requests is limited by project.
 */
public final class BearerAuthenticator implements Authenticator {
    private final ValidKeys keys;
    private final double requestsPerSecond;
    private final ShortCache<ProjectRepository.StoredProject> projects;
    private final Optional<BearerTokenVerifier> tokenVerifier;
    private final Optional<UserSessions> users;
    private final DenialAudit denials;
    private final GuessLimiter guesses;
    private final RequestQuotas requestQuotas = new RequestQuotas();

    /** The owner of a valid key or token, with the quota of its project; null if the project has none of its own. */
    private record Identified(Caller caller, @Nullable Double requestsPerSecond) {}

    /**
     * Callers that have no API key.
     *
     * @param tokens verifies tokens of another issuer; empty if none are accepted
     * @param users the sessions of users; empty if they cannot log in
     */
    public record OtherCallers(Optional<BearerTokenVerifier> tokens, Optional<UserSessions> users) {
        /** Accepts keys only. */
        public static OtherCallers none() {
            return new OtherCallers(Optional.empty(), Optional.empty());
        }
    }

    /**
     * Creates an authenticator.
     *
     * @param requestsPerSecond the limit of projects without a quota of their own
     * @param others the callers that have no key
     * @param guesses counts invalid keys
     * @param denials records refused requests
     */
    public BearerAuthenticator(
            ValidKeys keys,
            ProjectRepository projects,
            double requestsPerSecond,
            OtherCallers others,
            GuessLimiter guesses,
            DenialAudit denials) {
        this.keys = keys;
        this.projects = new ShortCache<>(projects::find);
        this.requestsPerSecond = requestsPerSecond;
        this.tokenVerifier = others.tokens();
        this.users = others.users();
        this.guesses = guesses;
        this.denials = denials;
    }

    @Override
    public void onForbidden(ApiRequest refused) {
        denials.forbidden(refused);
    }

    @Override
    public Caller identify(ApiRequest request) {
        return identify(request, false, false);
    }

    /**
     * Identifies the caller by the key or token of a session. It was valid when the session started.
     *
     * @param isUse whether the request is a use of the session, which ends if it is not used
     */
    public Caller identifySession(ApiRequest request, boolean isUse) {
        return identify(request, true, isUse);
    }

    private Caller identify(ApiRequest request, boolean inSession, boolean isUse) {
        String header = request.header("Authorization").orElse("");
        if (!header.regionMatches(true, 0, "Bearer ", 0, 7)) throw Problem.unauthenticated();
        String bearer = header.substring(7).strip();
        Optional<Identified> found = inSession && bearer.startsWith(UserSessions.PREFIX)
                ? findBySession(request, bearer, isUse)
                : bearer.startsWith("crl_") ? findByKey(request, bearer) : findByToken(bearer);
        if (found.isEmpty()) throw refused(request, bearer, inSession);
        Caller caller = found.get().caller();
        Double own = found.get().requestsPerSecond();
        if (!caller.project().isEmpty()) requestQuotas.take(caller.project(), own == null ? requestsPerSecond : own);
        return caller;
    }

    private Optional<Identified> findByKey(ApiRequest request, String bearer) {
        return PlaintextApiKey.parse(bearer)
                .flatMap(key -> keys.find(key)
                        .filter(stored -> isAllowedFrom(request.remoteAddress(), stored))
                        .map(stored -> new Identified(
                                new Caller(
                                        stored.project(),
                                        Caller.actorOf(key.id()),
                                        Set.copyOf(stored.scopes()),
                                        stored.limits()),
                                stored.requestsPerSecond())));
    }

    /**
     * The request names the project of a user, because a user may have several; it is the only one if it names none. An
     * operation that needs no project has none if the user is not a member. The request counts in the quota of the user
     * before the project is looked up, because a user may name many.
     */
    private Optional<Identified> findBySession(ApiRequest request, String bearer, boolean isUse) {
        if (users.isEmpty()) return Optional.empty();
        UserSessions sessions = users.get();
        Optional<UserRepository.ValidSession> found = sessions.find(bearer, isUse);
        if (found.isEmpty()) return Optional.empty();
        UserRepository.ValidSession session = found.get();
        requestQuotas.takeOfUser(Caller.actorOf(session.user()), requestsPerSecond);
        Optional<String> project = request.header(UserSessions.PROJECT_HEADER).filter(name -> !name.isEmpty());
        if (project.isPresent() && !Names.isValid(project.get())) throw Problem.notMember();
        UserSessions.CachedAccess cached = sessions.access(session.user(), project);
        UserRepository.Access access = cached.access();
        Caller caller = UserSessions.caller(session, access);
        if (access.project() == null && request.route().permission() != Permission.ANY) {
            if (access.hasSeveral()) throw UserSessions.projectMissing();
            denials.forbidden(request.withCaller(caller));
            throw Problem.notMember();
        }
        if (isUse && request.route().permission() != Permission.ANY) sessions.markUsed(session.user(), cached);
        return Optional.of(new Identified(caller, access.requestsPerSecond()));
    }

    private static boolean isAllowedFrom(String address, ApiKeyRepository.ValidApiKey key) {
        List<String> ranges = key.limits().addresses();
        return ranges.isEmpty()
                || ranges.stream()
                        .flatMap(range -> AddressRange.parse(range).stream())
                        .anyMatch(range -> range.contains(address));
    }

    /** A token may name a project that does not exist; such a token is rejected. */
    private Optional<Identified> findByToken(String bearer) {
        return tokenVerifier
                .flatMap(verifier -> verifier.verify(bearer))
                .flatMap(caller -> projects.find(caller.project())
                        .map(project -> new Identified(caller, project.quota().requestsPerSecond())));
    }

    @Override
    public Map<String, String> rateHeaders(Caller caller) {
        return requestQuotas.headers(caller.project());
    }

    private Problem refused(ApiRequest request, String bearer, boolean inSession) {
        String address = request.remoteAddress();
        Optional<Problem> tooMany = inSession ? Optional.empty() : guesses.count(address);
        if (tooMany.isPresent()) return tooMany.get();
        if (!inSession || guesses.countEndedSession(address)) denials.unauthenticated(request, bearer);
        return Problem.unauthenticated();
    }
}
