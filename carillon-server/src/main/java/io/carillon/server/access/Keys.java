package io.carillon.server.access;

import io.carillon.server.http.Authenticator;
import io.carillon.server.http.Call;
import io.carillon.server.http.Caller;
import io.carillon.server.http.Problem;
import io.carillon.server.store.HouseRepository;
import io.carillon.server.store.KeyRepository;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Identifies callers by their bearer key. What was read about a key is good for three seconds, so one that is revoked opens nothing on any node after that.
 * Whoever guesses is slowed down by address, and each project by its quota.
 */
public final class Keys implements Authenticator {
    private static final long GOOD_FOR = Duration.ofSeconds(3).toNanos();
    private static final int MOST = 10_000;
    private static final double GUESSES_PER_SECOND = 1;
    private static final double GUESSES_AT_ONCE = 30;

    private final KeyRepository keys;
    private final double requestsPerSecond;
    private final HouseRepository projects;
    private final Optional<Tokens> tokens;
    private final Map<String, Known> known = new ConcurrentHashMap<>();
    private final Map<String, Seen> seen = new ConcurrentHashMap<>();
    private final Buckets guesses = new Buckets();
    private final Buckets requests = new Buckets();

    private record Known(KeyRepository.Valid key, long at) {}

    private record Seen(HouseRepository.Kept project, long at) {}

    /** With the quota of projects that have none of their own, and whoever reads the tokens of others, if anybody. */
    public Keys(KeyRepository keys, HouseRepository projects, double requestsPerSecond, Optional<Tokens> tokens) {
        this.keys = keys;
        this.projects = projects;
        this.requestsPerSecond = requestsPerSecond;
        this.tokens = tokens;
    }

    @Override
    public Caller identify(Call call) {
        String header = call.header("Authorization").orElse("");
        if (!header.regionMatches(true, 0, "Bearer ", 0, 7)) throw unknown();
        String bearer = header.substring(7).strip();
        return bearer.startsWith("crl_") ? byKey(call, bearer) : byToken(call, bearer);
    }

    private Caller byKey(Call call, String bearer) {
        KeyText text = KeyText.parse(bearer).orElseThrow(() -> guessed(call));
        KeyRepository.Valid key = valid(text.id()).orElseThrow(() -> guessed(call));
        if (!MessageDigest.isEqual(key.hash(), text.hash())) throw guessed(call);
        Double own = key.requestsPerSecond();
        spend(key.project(), own == null ? requestsPerSecond : own);
        return new Caller(key.project(), "key " + text.id(), Set.copyOf(key.scopes()));
    }

    private Caller byToken(Call call, String bearer) {
        Caller caller = tokens.flatMap(reader -> reader.read(bearer)).orElseThrow(() -> guessed(call));
        Double own = project(caller.project())
                .orElseThrow(() -> guessed(call))
                .quota()
                .requestsPerSecond();
        spend(caller.project(), own == null ? requestsPerSecond : own);
        return caller;
    }

    /** A token may name a project that nobody has made: that is none. */
    private Optional<HouseRepository.Kept> project(String name) {
        long now = System.nanoTime();
        Seen before = seen.get(name);
        if (before != null && now - before.at() < GOOD_FOR) return Optional.of(before.project());
        Optional<HouseRepository.Kept> found = projects.find(name);
        if (seen.size() > MOST) seen.clear();
        found.ifPresent(project -> seen.put(name, new Seen(project, now)));
        return found;
    }

    private void spend(String project, double perSecond) {
        OptionalLong wait = requests.take(project, perSecond, perSecond);
        if (wait.isPresent())
            throw Problem.of(
                            429,
                            "quota-exceeded",
                            "The project makes more than %s requests a second. Wait, and send fewer."
                                    .formatted(perSecond))
                    .header("Retry-After", Long.toString(wait.getAsLong()));
    }

    private Optional<KeyRepository.Valid> valid(String id) {
        long now = System.nanoTime();
        Known before = known.get(id);
        if (before != null && now - before.at() < GOOD_FOR) return Optional.of(before.key());
        Optional<KeyRepository.Valid> key = keys.valid(id);
        if (known.size() > MOST) known.clear();
        if (key.isPresent()) known.put(id, new Known(key.get(), now));
        else known.remove(id);
        if (key.isPresent() && key.get().stale()) keys.used(id);
        return key;
    }

    private Problem guessed(Call call) {
        OptionalLong wait = guesses.take(call.remote(), GUESSES_PER_SECOND, GUESSES_AT_ONCE);
        if (wait.isEmpty()) return unknown();
        return Problem.of(429, "too-many-failures", "Too many keys from this address were not valid. Wait.")
                .header("Retry-After", Long.toString(wait.getAsLong()));
    }

    /** The same for every reason: nobody learns whether a key exists, expired or was revoked. */
    private static Problem unknown() {
        return Problem.of(
                        401,
                        "unauthenticated",
                        "Send a valid key as 'Authorization: Bearer crl_…'. An admin of the project makes one.")
                .header("WWW-Authenticate", "Bearer");
    }
}
