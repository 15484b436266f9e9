package io.carillon.internal.engine.relay;

import io.carillon.internal.engine.loop.BoundedWait;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.store.event.RelayStore;
import io.carillon.spi.EventRelay;
import io.carillon.spi.EventSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;

/** The loops of the relays and sources of one node. */
public final class RelayAndSourceLoops {
    /**
     * What a process declares.
     *
     * @param project the project of all relays and sources
     */
    public record Declared(String project, List<EventRelay> relays, List<DeclaredSource> sources) {
        public Declared {
            relays = List.copyOf(relays);
            sources = List.copyOf(sources);
        }

        /** Returns a declaration without relays and sources. */
        public static Declared none() {
            return new Declared("", List.of(), List.of());
        }
    }

    /**
     * A source.
     *
     * @param positions creates its positions; the argument is called after events were published
     */
    public record DeclaredSource(EventSource source, Function<Runnable, EventSource.Positions> positions) {}

    private final List<RelayLoop> relays;
    private final List<Loop> loops = new ArrayList<>();
    private final List<Loop> leaseLoops;

    /** {@code published} lets this node dispatch the events that sources publish. */
    public RelayAndSourceLoops(Declared declared, RelayStore store, Supplier<UUID> node, Runnable published) {
        relays = declared.relays().stream()
                .map(relay -> new RelayLoop(declared.project(), relay, store))
                .toList();
        relays.forEach(relay -> loops.add(relay.loop()));
        declared.sources()
                .forEach(source -> loops.add(new SourceLoop(
                                declared.project(),
                                source.source(),
                                source.positions().apply(published))
                        .loop()));
        leaseLoops = relays.isEmpty() ? List.of() : List.of(new RelayLeases(store, relays, node).loop());
    }

    /** Returns all loops. */
    public List<Loop> loops() {
        List<Loop> all = new ArrayList<>(loops);
        all.addAll(leaseLoops);
        return all;
    }

    /** Lets the relays look for events. */
    public void wakeRelays() {
        relays.forEach(relay -> relay.loop().wake());
    }

    /** Stops the loops. The leases end last, when this node sends no more. */
    public void stop(BoundedWait boundedWait) {
        Loop.stopAll(loops, boundedWait);
        Loop.stopAll(leaseLoops, boundedWait);
    }
}
