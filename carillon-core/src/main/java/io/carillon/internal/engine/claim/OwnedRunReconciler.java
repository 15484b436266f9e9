package io.carillon.internal.engine.claim;

import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.engine.attempt.ActiveAttempts;
import io.carillon.internal.engine.node.Node;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.internal.store.run.RunStore;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the rows that this node owns in the database with the attempts that it holds, once a minute and when an
 * answer was lost, and hands back the rows that it does not hold: runs of unanswered claims.
 */
final class OwnedRunReconciler {
    private static final Logger log = LoggerFactory.getLogger(OwnedRunReconciler.class);
    private static final long INTERVAL_NANOS = Duration.ofMinutes(1).toNanos();
    private static final long FIRST_RETRY_NANOS = Duration.ofSeconds(1).toNanos();

    private final RunStore runs;
    private final Node node;
    private volatile long last = System.nanoTime();
    /**
     * The delay before a failed reconciliation is repeated. It starts short, because unanswered claims must not wait
     * long.
     */
    private long retryNanos = FIRST_RETRY_NANOS;

    OwnedRunReconciler(RunStore runs, Node node) {
        this.runs = runs;
        this.node = node;
    }

    /** Makes a reconciliation due. */
    void request() {
        last = System.nanoTime() - INTERVAL_NANOS - 1;
    }

    boolean isDue() {
        return System.nanoTime() - last > INTERVAL_NANOS;
    }

    /** Reconciles. If this fails, claims continue and it is repeated later. */
    void reconcile() {
        last = System.nanoTime();
        try {
            UUID owner = node.id();
            boolean all = handBack(
                    owner,
                    row -> node.activeAttempts()
                            .find(row.run())
                            .filter(one -> one.owner().equals(owner)
                                    && ActiveAttempts.toOwnedRun(one).equals(row))
                            .isEmpty(),
                    false);
            if (all) retryNanos = FIRST_RETRY_NANOS;
            else scheduleRetry();
        } catch (RuntimeException failure) {
            log.warn("reconciliation of owned runs failed; will retry", failure);
            scheduleRetry();
        }
    }

    private void scheduleRetry() {
        last = System.nanoTime() - INTERVAL_NANOS + retryNanos;
        retryNanos = Math.min(2 * retryNanos, INTERVAL_NANOS);
    }

    /** Hands back all rows that this node owns, so that nothing is left to rescue after it stops. */
    void handBackAll() {
        handBack(node.id(), row -> true, true);
    }

    /**
     * Hands back the selected rows. Returns false if other transactions have locked some of them. Runs that are unknown
     * to this node were never started.
     */
    private boolean handBack(UUID owner, Predicate<OwnedRun> which, boolean wait) {
        Set<ActiveAttempt> unconfirmed = node.activeAttempts().unconfirmed();
        Set<Long> claimRecords = runs.claimRecords(owner);
        List<OwnedRun> rows = runs.ownedRuns(owner).stream().filter(which).toList();
        // Most of these ended between the two queries; the fence excludes them.
        int handedBack = runs.handBackRows(owner, rows, node.activeAttempts().startedRuns(), wait);
        if (handedBack > 0) log.warn("runs released that were claimed without an answer runs={}", handedBack);
        // Locked rows are still owned by this node. Their claim records stay until a later reconciliation hands them
        // back.
        if (handedBack < rows.size() && !Collections.disjoint(runs.ownedRuns(owner), Set.copyOf(rows))) return false;
        node.activeAttempts().markReconciled(owner, claimRecords, unconfirmed);
        return true;
    }
}
