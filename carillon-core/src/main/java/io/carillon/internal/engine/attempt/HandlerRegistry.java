package io.carillon.internal.engine.attempt;

import io.carillon.internal.run.Attempt;
import io.carillon.run.Target;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The handlers of this node by name. */
public final class HandlerRegistry {
    private final Map<String, BoundHandler> handlers;

    public HandlerRegistry(Map<String, BoundHandler> handlers) {
        this.handlers = Map.copyOf(handlers);
    }

    public Optional<BoundHandler> find(Attempt attempt) {
        if (!attempt.target().kind().equals(Target.HANDLER)) return Optional.empty();
        return Optional.ofNullable(handlers.get(attempt.target().name()));
    }

    public Set<String> names() {
        return handlers.keySet();
    }
}
