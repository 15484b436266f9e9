package io.carillon.internal.engine;

import io.carillon.internal.engine.attempt.BoundHandler;
import io.carillon.internal.engine.attempt.HandlerConnections;
import io.carillon.internal.engine.listener.Listeners;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.spi.AttemptInterceptor;
import java.util.HashMap;
import java.util.Map;

/**
 * The parts of an engine: storage, handlers, the connections for transactional handlers, listeners, planner, and the
 * identity of the node.
 */
public record EngineParts(
        Storage storage,
        Map<String, BoundHandler> handlers,
        HandlerConnections connections,
        Listeners listeners,
        TickPlanner planner,
        NodeIdentity identity) {
    public EngineParts {
        handlers = Map.copyOf(handlers);
    }

    /** Returns these parts with an interceptor that runs before each handler. */
    public EngineParts withInterceptor(AttemptInterceptor interceptor) {
        Map<String, BoundHandler> intercepted = new HashMap<>();
        handlers.forEach((name, handler) -> intercepted.put(name, handler.withInterceptor(interceptor)));
        return new EngineParts(storage, intercepted, connections, listeners, planner, identity);
    }

    /** The name, host, process id and version under which this node registers. */
    public record NodeIdentity(String name, String host, long pid, String version) {}
}
