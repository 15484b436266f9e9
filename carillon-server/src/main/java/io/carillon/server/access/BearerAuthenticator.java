package io.carillon.server.access;

import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.Authenticator;
import io.carillon.server.http.Caller;
import io.carillon.server.http.Problem;
import io.carillon.server.store.ApiKeyRepository;
import io.carillon.server.store.ProjectRepository;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Identifies callers by their bearer key or token. A key is cached for three seconds, so that every node rejects a
 * revoked key within the promised five seconds. The number of invalid keys is limited by address, and the number of
 * requests by project.
 */
public final class BearerAuthenticator implements Authenticator {
    private static final long CACHE_NANOS = Duration.ofSeconds(3).toNanos();
    private static final int MAX_CACHED = 10_000;

    private final ApiKeyRepository keys;
    private final double requestsPerSecond;
    private final ProjectRepository projects;
    private final Optional<BearerTokenVerifier> tokenVerifier;
    private final DenialAudit denials;
    private final Map<String, CachedKey> cachedKeys = new ConcurrentHashMap<>();
    private final Map<String, CachedProject> cachedProjects = new ConcurrentHashMap<>();
    private final GuessLimiter guesses;
    private final RateLimiter requestLimiter = new RateLimiter();

    private record CachedKey(ApiKeyRepository.ValidApiKey key, long readNanos) {}

    private record CachedProject(ProjectRepository.StoredProject project, long readNanos) {}

    /**
     * Creates an authenticator.
     *
     * @param requestsPerSecond the limit of projects without a quota of their own
     * @param tokens verifies tokens of another issuer; empty if only keys are accepted
     * @param guesses limits the number of invalid keys
     * @param denials records refused requests
     */
    public BearerAuthenticator(
            ApiKeyRepository keys,
            ProjectRepository projects,
            double requestsPerSecond,
            Optional<BearerTokenVerifier> tokens,
            GuessLimiter guesses,
            DenialAudit denials) {
        this.keys = keys;
        this.projects = projects;
        this.requestsPerSecond = requestsPerSecond;
        this.tokenVerifier = tokens;
        this.guesses = guesses;
        this.denials = denials;
    }

    @Override
    public void onForbidden(ApiRequest refused) {
        denials.forbidden(refused);
    }

    @Override
    public Caller identify(ApiRequest request) {
        String header = request.header("Authorization").orElse("");
        if (!header.regionMatches(true, 0, "Bearer ", 0, 7)) throw unauthenticated();
        String bearer = header.substring(7).strip();
        guesses.check(request.remoteAddress(), bearer);
        Caller caller = bearer.startsWith("crl_") ? identifyByKey(request, bearer) : identifyByToken(request, bearer);
        guesses.accept(bearer);
        return caller;
    }

    private Caller identifyByKey(ApiRequest request, String bearer) {
        PlaintextApiKey text = PlaintextApiKey.parse(bearer).orElseThrow(() -> rejectGuess(request, bearer));
        ApiKeyRepository.ValidApiKey key = findValidKey(text.id()).orElseThrow(() -> rejectGuess(request, bearer));
        if (!MessageDigest.isEqual(key.hash(), text.hash()) || !isAllowedFrom(request.remoteAddress(), key))
            throw rejectGuess(request, bearer);
        Double own = key.requestsPerSecond();
        takeFromQuota(key.project(), own == null ? requestsPerSecond : own);
        return new Caller(key.project(), "key " + text.id(), Set.copyOf(key.scopes()), key.limits());
    }

    private static boolean isAllowedFrom(String address, ApiKeyRepository.ValidApiKey key) {
        List<String> ranges = key.limits().addresses();
        return ranges.isEmpty()
                || ranges.stream()
                        .flatMap(range -> AddressRange.parse(range).stream())
                        .anyMatch(range -> range.contains(address));
    }

    private Caller identifyByToken(ApiRequest request, String bearer) {
        Caller caller =
                tokenVerifier.flatMap(reader -> reader.verify(bearer)).orElseThrow(() -> rejectGuess(request, bearer));
        Double own = findProject(caller.project())
                .orElseThrow(() -> rejectGuess(request, bearer))
                .quota()
                .requestsPerSecond();
        takeFromQuota(caller.project(), own == null ? requestsPerSecond : own);
        return caller;
    }

    /** A token may name a project that does not exist; such a token is rejected. */
    private Optional<ProjectRepository.StoredProject> findProject(String name) {
        long now = System.nanoTime();
        CachedProject before = cachedProjects.get(name);
        if (before != null && now - before.readNanos() < CACHE_NANOS) return Optional.of(before.project());
        Optional<ProjectRepository.StoredProject> found = projects.find(name);
        if (cachedProjects.size() > MAX_CACHED) cachedProjects.clear();
        found.ifPresent(project -> cachedProjects.put(name, new CachedProject(project, now)));
        return found;
    }

    private void takeFromQuota(String project, double perSecond) {
        OptionalLong wait = requestLimiter.tryAcquire(project, perSecond, perSecond);
        if (wait.isPresent())
            throw Problem.of(
                            429,
                            "quota-exceeded",
                            "The project may send at most %s requests per second. Wait for the time in Retry-After."
                                    .formatted(perSecond))
                    .withHeader("Retry-After", Long.toString(wait.getAsLong()));
    }

    private Optional<ApiKeyRepository.ValidApiKey> findValidKey(String id) {
        long now = System.nanoTime();
        CachedKey before = cachedKeys.get(id);
        if (before != null && now - before.readNanos() < CACHE_NANOS) return Optional.of(before.key());
        Optional<ApiKeyRepository.ValidApiKey> key = keys.findValid(id);
        if (cachedKeys.size() > MAX_CACHED) cachedKeys.clear();
        if (key.isPresent()) cachedKeys.put(id, new CachedKey(key.get(), now));
        else cachedKeys.remove(id);
        if (key.isPresent() && key.get().isUseStale()) keys.markUsed(id);
        return key;
    }

    private Problem rejectGuess(ApiRequest request, String bearer) {
        Optional<Problem> tooMany = guesses.count(request.remoteAddress(), bearer);
        if (tooMany.isPresent()) return tooMany.get();
        denials.unauthenticated(request, bearer);
        return unauthenticated();
    }

    /**
     * Returns the same problem for every reason, so that callers cannot find out whether a key exists, expired
     * or was revoked.
     */
    private static Problem unauthenticated() {
        return Problem.of(
                        401,
                        "unauthenticated",
                        "No valid key. Send one as 'Authorization: Bearer crl_…'. Admins of the project create keys.")
                .withHeader("WWW-Authenticate", "Bearer");
    }
}
