package io.carillon.internal.engine.attempt;

import io.carillon.internal.run.Attempt;
import io.carillon.run.Target;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The handlers of this node by name. */
public final class HandlerRegistry {
    private final Map<String, BoundHandler> handlers;
    /** Sorted, so that every node shows the same handlers in the same order. */
    private final SortedSet<String> names;

    public HandlerRegistry(Map<String, BoundHandler> handlers) {
        this.handlers = Map.copyOf(handlers);
        this.names = Collections.unmodifiableSortedSet(new TreeSet<>(handlers.keySet()));
    }

    public Optional<BoundHandler> find(Attempt attempt) {
        return find(attempt.target());
    }

    public Optional<BoundHandler> find(Target target) {
        return target.kind().equals(Target.HANDLER)
                ? Optional.ofNullable(handlers.get(target.name()))
                : Optional.empty();
    }

    /** Returns whether a run of this attempt needs a transaction. */
    public boolean isTransactional(Attempt attempt) {
        return find(attempt).stream().anyMatch(BoundHandler::transactional);
    }

    /** Returns whether the handlers of the application have different queues. */
    public boolean haveSeveralQueues() {
        return handlers.values().stream()
                        .map(BoundHandler::queue)
                        // Every node has Carillon's own handlers, also an application with one queue.
                        .filter(queue -> !queue.startsWith("carillon."))
                        .distinct()
                        .count()
                > 1;
    }

    public Set<String> names() {
        return names;
    }

    /** Returns the names of the handlers that are workflows. */
    public Set<String> workflows() {
        return handlers.entrySet().stream()
                .filter(handler -> handler.getValue().handlesCancel())
                .map(Map.Entry::getKey)
                .collect(Collectors.toUnmodifiableSet());
    }
}
