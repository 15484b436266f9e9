package io.carillon.internal.engine.relay;

import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.store.event.RelayStore;
import io.carillon.internal.store.event.RelayStore.Lease;
import io.carillon.internal.store.event.RelayStore.Name;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Gets and extends the leases of the relays of this node. It has its own thread: a relay that waits for its destination
 * keeps its lease; a node that does not respond loses it. Correctness does not depend on the time: a sender that lost
 * its lease is fenced by the next one, and its writes name an older epoch.
 */
final class RelayLeases implements Loop.Task {
    /** A dead node is replaced within the lease and {@link #INTERVAL} together. */
    private static final Duration LEASE = Duration.ofSeconds(4);

    private static final Duration INTERVAL = Duration.ofSeconds(1);

    private final RelayStore store;
    private final Map<Name, RelayLoop> relays;
    private final Supplier<UUID> node;
    private final Loop loop = new Loop("lease-relays", true, this);

    RelayLeases(RelayStore store, List<RelayLoop> relays, Supplier<UUID> node) {
        this.store = store;
        this.relays = relays.stream().collect(Collectors.toMap(RelayLoop::name, Function.identity()));
        this.node = node;
    }

    Loop loop() {
        return loop;
    }

    @Override
    public void runRound() throws InterruptedException {
        List<Name> wanted = relays.values().stream()
                .filter(RelayLoop::wantsLease)
                .map(RelayLoop::name)
                .toList();
        List<Name> returned = relays.values().stream()
                .filter(relay -> relay.hasLease() && !relay.wantsLease())
                .map(RelayLoop::name)
                .toList();
        if (!returned.isEmpty()) store.release(node.get(), returned);
        Map<Name, Lease> held = wanted.isEmpty()
                ? Map.of()
                : store.lease(node.get(), wanted, LEASE).stream()
                        .collect(Collectors.toMap(Lease::name, Function.identity()));
        relays.forEach((name, relay) -> relay.setLease(held.get(name)));
        loop.sleep(INTERVAL.toNanos());
    }

    @Override
    public void onEnd() {
        store.release(node.get(), relays.keySet());
    }
}
