package io.carillon.internal.engine.node;

import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.engine.attempt.ActiveAttempts;
import io.carillon.internal.engine.attempt.HandlerRegistry;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.value.DatabaseClock;
import io.carillon.internal.value.Uuid7;
import java.util.List;
import java.util.UUID;

/**
 * The state that the loops of this node share: its id, the cluster size, the attempts it holds, its handlers
 * and the clock.
 */
public final class Node {
    /** Receives claimed attempts; if {@code ahead}, they start before waiting attempts of other lanes. */
    @FunctionalInterface
    public interface Dispatch {
        void accept(List<ActiveAttempt> claimed, boolean ahead);
    }

    /** An id is never reused: a node that was declared dead continues with a new id. */
    private volatile UUID id = Uuid7.next();

    private final ActiveAttempts activeAttempts;
    private final HandlerRegistry handlers;
    private final DatabaseClock clock;
    private final ClusterSize clusterSize = new ClusterSize();
    private final Dispatch dispatch;

    public Node(ActiveAttempts activeAttempts, HandlerRegistry handlers, DatabaseClock clock, Dispatch dispatch) {
        this.activeAttempts = activeAttempts;
        this.handlers = handlers;
        this.clock = clock;
        this.dispatch = dispatch;
    }

    public UUID id() {
        return id;
    }

    /** Replaces the id if it is still the given one. Returns whether this call replaced it. */
    synchronized boolean renewId(UUID old) {
        if (!id.equals(old)) return false;
        id = Uuid7.next();
        activeAttempts.forgetClaimRecords(old);
        return true;
    }

    public ActiveAttempts activeAttempts() {
        return activeAttempts;
    }

    public HandlerRegistry handlers() {
        return handlers;
    }

    public DatabaseClock clock() {
        return clock;
    }

    public ClusterSize clusterSize() {
        return clusterSize;
    }

    public ActiveAttempt addActive(UUID owner, Attempt attempt, long claimNumber) {
        ActiveAttempt activeAttempt = new ActiveAttempt(owner, attempt, clock);
        activeAttempt.claimNumber(claimNumber);
        activeAttempts.add(activeAttempt);
        return activeAttempt;
    }

    public void dispatch(List<ActiveAttempt> claimed, boolean ahead) {
        dispatch.accept(claimed, ahead);
    }
}
