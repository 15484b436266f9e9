package io.carillon.server.access;

import io.carillon.server.http.Caller;
import io.carillon.server.http.KeyLimits;
import io.carillon.server.http.Problem;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Decides the limits of a new key: they are within those of the key or token that creates it, and within the longest
 * lifetime that the server allows. Otherwise a caller whose access is limited could extend it with a key of its own.
 *
 * @param longestLifetime empty if the server sets none
 */
public record NewKeyLimits(Optional<Duration> longestLifetime) {
    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");
    private static final int MAX_ITEMS = 50;
    private static final Pattern PATTERN = Pattern.compile("[a-z0-9._-]{1,100}\\*?");

    /** The requested limits of a new key. What is not requested is as wide as the limits of the creator allow. */
    public record Requested(
            Optional<Instant> expiresAt,
            Optional<List<String>> addresses,
            Optional<List<String>> queues,
            Optional<List<String>> handlers,
            Optional<List<String>> endpoints) {
        public static Requested nothing() {
            return new Requested(
                    Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
        }
    }

    /** Returns the limits of a new key. */
    public KeyLimits ofNew(Requested requested, Caller caller, Instant now) {
        return new KeyLimits(
                expiry(requested.expiresAt(), caller.limits().expiresAt(), now),
                addresses(requested.addresses(), caller.limits().addresses()),
                patterns("queues", requested.queues()),
                patterns("handlers", requested.handlers()),
                patterns("endpoints", requested.endpoints()));
    }

    /** Returns the limits of a key that replaces another one: those of the old key. */
    public KeyLimits ofRotated(KeyLimits kept, Caller caller, Instant now) {
        if (!isWithin(kept, caller.limits()))
            throw Problem.of(
                    403,
                    "forbidden",
                    "The new key would be valid longer or from more addresses than your own key or token. Use a key"
                            + " whose limits include those of the key to rotate.");
        return kept.withExpiry(earlier(kept.expiresAt(), longestFrom(now)));
    }

    private @Nullable Instant expiry(Optional<Instant> requested, @Nullable Instant own, Instant now) {
        Instant longest = longestFrom(now);
        if (requested.isEmpty()) return earlier(own, longest);
        Instant expiry = requested.get();
        if (expiry.isAfter(LATEST)) throw Problem.invalid("/expiresAt", "The year must not exceed 9999.");
        if (own != null && expiry.isAfter(own))
            throw Problem.invalid(
                    "/expiresAt", "This must not be after %s, when your own key or token expires.".formatted(own));
        if (longest != null && expiry.isAfter(longest))
            throw Problem.invalid(
                    "/expiresAt",
                    "This must not be after %s: the server limits the lifetime of keys.".formatted(longest));
        return expiry;
    }

    private static List<String> addresses(Optional<List<String>> requested, List<String> own) {
        List<String> ranges = requested.orElse(List.of());
        if (ranges.isEmpty()) return own;
        if (ranges.size() > MAX_ITEMS)
            throw Problem.invalid("/addresses", "This must have at most %d items.".formatted(MAX_ITEMS));
        for (int i = 0; i < ranges.size(); i++) {
            if (AddressRange.parse(ranges.get(i)).isEmpty())
                throw Problem.invalid(
                        "/addresses/" + i, "This must be an IP address or a range such as 10.0.0.0/8 or fd00::/8.");
            if (!isWithin(ranges.get(i), own))
                throw Problem.invalid("/addresses/" + i, "This must be within the addresses of your own key.");
        }
        return ranges;
    }

    /** Only a key with the scope admin creates keys, and such a key is not restricted. */
    private static List<String> patterns(String field, Optional<List<String>> requested) {
        List<String> patterns = requested.orElse(List.of());
        if (patterns.size() > MAX_ITEMS)
            throw Problem.invalid("/" + field, "This must have at most %d items.".formatted(MAX_ITEMS));
        for (int i = 0; i < patterns.size(); i++)
            if (!PATTERN.matcher(patterns.get(i)).matches())
                throw Problem.invalid(
                        "/" + field + "/" + i,
                        "This must be a name of a-z, 0-9, '.', '_' and '-', or a prefix of names such as orders.*");
        return patterns;
    }

    private static boolean isWithin(KeyLimits kept, KeyLimits own) {
        Instant end = own.expiresAt();
        boolean endsBefore =
                end == null || (kept.expiresAt() != null && !kept.expiresAt().isAfter(end));
        boolean everywhere = kept.addresses().isEmpty() && !own.addresses().isEmpty();
        return endsBefore
                && !everywhere
                && kept.addresses().stream().allMatch(range -> isWithin(range, own.addresses()));
    }

    private static boolean isWithin(String range, List<String> own) {
        return own.isEmpty()
                || own.stream()
                        .flatMap(outer -> AddressRange.parse(outer).stream())
                        .anyMatch(outer -> AddressRange.parse(range)
                                .filter(outer::contains)
                                .isPresent());
    }

    private @Nullable Instant longestFrom(Instant now) {
        return longestLifetime.map(now::plus).orElse(null);
    }

    private static @Nullable Instant earlier(@Nullable Instant one, @Nullable Instant other) {
        if (one == null) return other;
        return other == null || one.isBefore(other) ? one : other;
    }
}
