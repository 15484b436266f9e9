package io.carillon.internal.engine.claim;

import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.LaneDue;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The handlers seen with runs in each lane, so that a claim asks for these only, and the handlers that other nodes have
 * and this one does not. Polls bring back handlers that were removed, so the memory can be bounded: when too many lanes
 * were seen, all are removed, and each lane keeps a limited number of handlers that this node does not have.
 */
final class LaneHandlers {
    static final int MAX_LANES = 100_000;

    /** The number of handlers that this node does not have, per lane, whose runs are claimed to pass them on. */
    static final int MAX_UNKNOWN = 50;

    private final Set<String> ownHandlers;
    private final Set<String> unknown = ConcurrentHashMap.newKeySet();
    private final Map<Lane, Set<String>> handlersByLane = new ConcurrentHashMap<>();

    /** {@code ownHandlers} are the handlers of this node. */
    LaneHandlers(Set<String> ownHandlers) {
        this.ownHandlers = ownHandlers;
    }

    void add(Lane lane, String handler) {
        Set<String> names = handlersByLane.get(lane);
        if (names == null) {
            if (handlersByLane.size() >= MAX_LANES) handlersByLane.clear();
            names = handlersByLane.computeIfAbsent(lane, l -> ConcurrentHashMap.newKeySet());
        }
        if (names.contains(handler)) return;
        if (ownHandlers.contains(handler)
                || names.stream().filter(name -> !ownHandlers.contains(name)).count() < MAX_UNKNOWN) names.add(handler);
    }

    /**
     * Removes a handler whose runs were passed on, so that other handlers can be added. A poll that finds more of its
     * runs adds it again.
     */
    void remove(Lane lane, String handler) {
        handlersByLane.computeIfPresent(lane, (l, names) -> {
            names.remove(handler);
            return names.isEmpty() ? null : names;
        });
    }

    Set<String> handlersOf(Lane lane) {
        return handlersByLane.getOrDefault(lane, Set.of());
    }

    int laneCount() {
        return handlersByLane.size();
    }

    /** Records handlers that other nodes have. Runs whose handler no node has are claimed until all are parked. */
    void addUnknown(Collection<String> handlers) {
        unknown.addAll(handlers);
    }

    Set<String> unknown() {
        return unknown;
    }

    /** Forgets the unknown handlers, because the nodes that have them may have stopped. */
    void forgetUnknown() {
        unknown.clear();
    }

    /** Records the handlers seen in each lane and removes runs whose handler this node does not have. */
    List<LaneDue> filterKnown(List<LaneDue> due) {
        List<LaneDue> own =
                due.stream().filter(one -> !unknown.contains(one.handler())).toList();
        own.forEach(one -> add(one.lane(), one.handler()));
        return own;
    }

    /**
     * Adds the handlers to claim for: those seen in the lane, and the handler named like the queue. If there is none,
     * the claim accepts all handlers except the unknown ones.
     */
    ClaimRequest.LaneClaim withHandlers(ClaimRequest.LaneClaim laneClaim) {
        String queue = laneClaim.lane().queue();
        Set<String> handlers = new HashSet<>(handlersOf(laneClaim.lane()));
        if (ownHandlers.contains(queue)) handlers.add(queue);
        handlers.removeAll(unknown);
        return laneClaim.withHandlers(handlers);
    }
}
