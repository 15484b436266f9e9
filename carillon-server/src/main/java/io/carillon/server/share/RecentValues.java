package io.carillon.server.share;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Values by key that several callers receive. A caller states the oldest value that it accepts, and shares a value that
 * another caller has computed or is computing. Thread-safe.
 */
public final class RecentValues<K, V> {
    /** The longest age of a value. */
    public static final Duration MAX_AGE = Duration.ofSeconds(10);

    private static final int MAX_KEPT = 100;

    private final LongSupplier nanoTime;
    private final Map<K, Recent<V>> values = new ConcurrentHashMap<>();

    /** A value that is or was computed; compared by identity. */
    private static final class Recent<V> {
        private final CompletableFuture<V> value = new CompletableFuture<>();
        private final long beganNanos;

        Recent(long beganNanos) {
            this.beganNanos = beganNanos;
        }
    }

    public RecentValues(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Returns a value that is recent enough, or that of the call. */
    public V get(K key, Duration maxAge, Supplier<V> call) {
        long now = nanoTime.getAsLong();
        Recent<V> own = new Recent<>(now);
        Recent<V> used =
                values.merge(key, own, (before, mine) -> now - before.beganNanos <= maxAge.toNanos() ? before : mine);
        if (used != own) return join(used);
        try {
            V value = call.get();
            own.value.complete(value);
            removeOld(now);
            return value;
        } catch (RuntimeException | Error failure) {
            values.remove(key, own);
            own.value.completeExceptionally(failure);
            throw failure;
        }
    }

    /** A caller that waits for a value gets its failure too: the same call would fail again at once. */
    private static <V> V join(Recent<V> recent) {
        try {
            return recent.value.join();
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof RuntimeException failure) throw failure;
            throw failed;
        }
    }

    private void removeOld(long now) {
        if (values.size() > MAX_KEPT) values.values().removeIf(recent -> now - recent.beganNanos > MAX_AGE.toNanos());
        if (values.size() > MAX_KEPT) values.clear();
    }
}
