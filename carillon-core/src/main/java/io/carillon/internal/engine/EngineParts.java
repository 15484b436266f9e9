package io.carillon.internal.engine;

import io.carillon.internal.engine.attempt.BoundHandler;
import io.carillon.internal.engine.attempt.HandlerConnections;
import io.carillon.internal.engine.listener.Listeners;
import io.carillon.internal.engine.relay.RelayAndSourceLoops;
import io.carillon.internal.engine.stats.StatsRecorder;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.spi.AttemptInterceptor;
import java.util.HashMap;
import java.util.Map;

/**
 * The parts of an engine: storage, handlers, the connections for transactional handlers, listeners, planner, the
 * identity of the node, the recorder of statistics, and the relays and sources.
 */
public record EngineParts(
        Storage storage,
        Map<String, BoundHandler> handlers,
        HandlerConnections connections,
        Listeners listeners,
        TickPlanner planner,
        NodeIdentity identity,
        StatsRecorder stats,
        RelayAndSourceLoops.Declared relaysAndSources) {
    public EngineParts {
        handlers = Map.copyOf(handlers);
    }

    /** Creates parts with a recorder of their own, without relays and sources. */
    public EngineParts(
            Storage storage,
            Map<String, BoundHandler> handlers,
            HandlerConnections connections,
            Listeners listeners,
            TickPlanner planner,
            NodeIdentity identity) {
        this(
                storage,
                handlers,
                connections,
                listeners,
                planner,
                identity,
                new StatsRecorder(storage.stats(), storage.clock()),
                RelayAndSourceLoops.Declared.none());
    }

    /** Returns these parts with an interceptor that runs before each handler. */
    public EngineParts withInterceptor(AttemptInterceptor interceptor) {
        Map<String, BoundHandler> intercepted = new HashMap<>();
        handlers.forEach((name, handler) -> intercepted.put(name, handler.withInterceptor(interceptor)));
        return new EngineParts(
                storage, intercepted, connections, listeners, planner, identity, stats, relaysAndSources);
    }

    /** The name, host, process id and version under which this node registers. */
    public record NodeIdentity(String name, String host, long pid, String version) {}
}
