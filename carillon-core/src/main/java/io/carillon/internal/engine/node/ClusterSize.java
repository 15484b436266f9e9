package io.carillon.internal.engine.node;

import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/**
 * The number of nodes in the cluster, and which of them respond to a hint. In a small cluster every node responds. If
 * 100 nodes tried to claim one run, 99 of them would query the database without result. In a large cluster each node
 * also polls less often.
 */
public final class ClusterSize {
    /** Up to this size, all nodes respond to each hint and poll at the normal interval; the cost is small. */
    private static final int SMALL_CLUSTER = 4;

    /**
     * How many nodes of a large cluster respond to a hint. One takes the run; the others respond in case the first one
     * is full or has just died.
     */
    private static final int SELECTED_NODES = 3;

    private record Position(int rank, int size) {}

    private volatile Position position = new Position(0, 1);
    private volatile Runnable onShrunk = () -> {};
    private int referenceSize = 1;
    private boolean alone;

    /**
     * Sets the action that runs when the cluster has shrunk by half, so that the remaining nodes must work more often.
     */
    public void onShrunk(Runnable action) {
        onShrunk = action;
    }

    /**
     * Makes this node respond to all hints and query as often as in a small cluster, because the others stand by. Must
     * be called before the start.
     */
    public void workAlone() {
        alone = true;
    }

    /** Sets the live nodes that a heartbeat read. Only the heartbeat calls this. */
    void update(UUID self, Set<UUID> peers) {
        TreeSet<UUID> all = new TreeSet<>(peers);
        all.add(self);
        position = new Position(all.headSet(self).size(), all.size());
        if (all.size() > referenceSize) referenceSize = all.size();
        if (all.size() * 2 <= referenceSize) {
            referenceSize = all.size();
            onShrunk.run();
        }
    }

    public boolean isLarge() {
        return position.size > SMALL_CLUSTER;
    }

    /** Returns whether this node responds to a hint. All nodes that know the same peers agree on the selection. */
    public boolean isSelected(int randomNumber) {
        Position now = position;
        return alone || now.size <= SMALL_CLUSTER || Math.floorMod(now.rank - randomNumber, now.size) < SELECTED_NODES;
    }

    /**
     * Returns an interval that grows with the cluster, so that all nodes together query about as often as a small
     * cluster does.
     */
    public Duration scaledInterval(Duration interval, Duration max) {
        int size = position.size;
        if (alone || size <= SMALL_CLUSTER || interval.compareTo(max) >= 0) return interval;
        Duration longer = interval.multipliedBy(size).dividedBy(SMALL_CLUSTER);
        return longer.compareTo(max) < 0 ? longer : max;
    }
}
