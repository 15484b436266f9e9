package io.carillon.it.engine;

import io.carillon.store.Storage;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Counts the calls of the ports of a storage, by names such as {@code runs.claim}. */
final class CallCounter {
    private final Map<String, AtomicLong> calls = new ConcurrentHashMap<>();

    Storage around(Storage real) {
        return FaultyStorage.around(real, (point, call) -> {
            calls.computeIfAbsent(point, p -> new AtomicLong()).incrementAndGet();
            return call.call();
        });
    }

    long countOf(String point) {
        AtomicLong count = calls.get(point);
        return count == null ? 0 : count.get();
    }
}
