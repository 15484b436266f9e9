package io.carillon.engine;

import io.carillon.run.AttemptGuard;
import io.carillon.schedule.TickPlanner;
import io.carillon.store.Storage;
import java.util.HashMap;
import java.util.Map;

/** What an engine is made of: storage, handlers, where transactions come from, who listens, and how it plans. */
public record EngineParts(
        Storage storage,
        Map<String, BoundHandler> handlers,
        TransactionConnections connections,
        Listeners listeners,
        TickPlanner planner,
        NodeIdentity identity) {
    public EngineParts {
        handlers = Map.copyOf(handlers);
    }

    /** The same parts, with a guard before each handler. */
    public EngineParts guardedBy(AttemptGuard guard) {
        Map<String, BoundHandler> guarded = new HashMap<>();
        handlers.forEach((name, handler) -> guarded.put(name, handler.guardedBy(guard)));
        return new EngineParts(storage, guarded, connections, listeners, planner, identity);
    }

    /** How this node presents itself. */
    public record NodeIdentity(String name, String host, long pid, String version) {}
}
