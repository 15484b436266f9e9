package io.carillon.testkit;

import io.carillon.run.Attempt;
import io.carillon.run.HandlerType;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/** What the next attempts of handlers shall fail with, in order. */
final class NextFailures {
    private final Map<String, Deque<Exception>> byHandler = new HashMap<>();

    void add(HandlerType<?> type, int times, Exception failure) {
        Deque<Exception> next = byHandler.computeIfAbsent(type.name(), name -> new ArrayDeque<>());
        for (int i = 0; i < times; i++) next.add(failure);
        // Runs that were stored under an older name are attempts of the same handler.
        type.older().keySet().forEach(name -> byHandler.put(name, next));
    }

    void strike(Attempt attempt) throws Exception {
        Deque<Exception> next = byHandler.get(attempt.target().name());
        Exception failure = next == null ? null : next.poll();
        if (failure != null) throw failure;
    }

    void clear() {
        byHandler.clear();
    }
}
