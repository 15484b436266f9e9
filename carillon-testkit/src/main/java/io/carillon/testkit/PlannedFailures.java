package io.carillon.testkit;

import io.carillon.run.HandlerType;
import io.carillon.spi.RunInfo;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/** The exceptions with which the next attempts of handlers fail, in order. */
final class PlannedFailures {
    private final Map<String, Deque<Exception>> byHandler = new HashMap<>();

    void add(HandlerType<?> type, int times, Exception failure) {
        Deque<Exception> next = byHandler.computeIfAbsent(type.name(), name -> new ArrayDeque<>());
        for (int i = 0; i < times; i++) next.add(failure);
        // Runs stored under an older name belong to the same handler.
        type.olderReaders().keySet().forEach(name -> byHandler.put(name, next));
    }

    void throwNext(RunInfo run) throws Exception {
        Deque<Exception> next = byHandler.get(run.target().name());
        Exception failure = next == null ? null : next.poll();
        if (failure != null) throw failure;
    }

    void clear() {
        byHandler.clear();
    }
}
