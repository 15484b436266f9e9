package io.carillon.engine;

import io.carillon.run.AttemptGuard;
import io.carillon.schedule.TickPlanner;
import io.carillon.store.Storage;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/** What an engine is made of: storage, handlers, where transactions come from, who listens, and how it plans. */
public record EngineParts(
        Storage storage,
        Map<String, BoundHandler> handlers,
        Connections connections,
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

    /** Where the transactions of transactional handlers come from: the user's data source. */
    @FunctionalInterface
    public interface Connections {
        Connection open() throws SQLException;
    }
}
