package io.carillon.internal.engine.node;

import io.carillon.NodeConfig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Decides which peers are dead: a peer whose heartbeat counter did not change while several heartbeats of this node
 * succeeded. One own heartbeat adds at most one and a half intervals of silence: while the database answered no node,
 * all nodes were silent, and the first answer after that proves nothing about the peers.
 */
final class DeadNodeDetector {
    private record PeerState(long heartbeat, long silentNanos) {}

    private final Map<UUID, PeerState> peers = new HashMap<>();
    private final long maxAddedSilence;
    private final long deadAfter;
    private long lastNanos;

    DeadNodeDetector(NodeConfig config) {
        maxAddedSilence = config.heartbeatInterval().toNanos() * 3 / 2;
        deadAfter = config.deadAfter().toNanos();
    }

    /**
     * Records an own heartbeat that succeeded at {@code now} and read these counters. Returns the peers that were
     * silent for too long.
     */
    List<UUID> findSilentPeers(Map<UUID, Long> heartbeats, long now) {
        peers.keySet().retainAll(heartbeats.keySet());
        long added = Math.min(now - lastNanos, maxAddedSilence);
        lastNanos = now;
        List<UUID> silent = new ArrayList<>();
        heartbeats.forEach((peer, heartbeat) -> {
            PeerState state = peers.get(peer);
            long silence = state == null || state.heartbeat != heartbeat ? 0 : state.silentNanos + added;
            peers.put(peer, new PeerState(heartbeat, silence));
            if (silence >= deadAfter) silent.add(peer);
        });
        return silent;
    }

    /** Forgets all peers because an own heartbeat failed. */
    void reset() {
        peers.clear();
    }

    List<UUID> peers() {
        return List.copyOf(peers.keySet());
    }
}
