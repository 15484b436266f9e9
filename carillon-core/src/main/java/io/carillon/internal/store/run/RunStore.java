package io.carillon.internal.store.run;

import io.carillon.internal.run.Attempt;
import io.carillon.run.RunId;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Runs between claim and end. Every write that ends or extends an attempt has a fence: the owner and
 * the attempt number.
 */
public interface RunStore {
    /**
     * Claims due runs for a live node, up to the laneClaim of each lane. Rows that another transaction has
     * locked are skipped.
     */
    ClaimResult claim(ClaimRequest request);

    /**
     * A claim of isolated runs.
     *
     * @param maxRuns the largest number of runs; 1 for a caller without a heartbeat
     * @param busy whether the node has ordinary runs, see {@link IsolationRule#pauseAfterDeath}
     * @param claimNumber the node's number of this claim
     * @param lease how long each run is leased; null if the node's heartbeat keeps the lease
     */
    record IsolatedClaimRequest(
            UUID owner,
            Set<String> handlers,
            int maxRuns,
            boolean busy,
            long claimNumber,
            @Nullable Duration lease) {
        public IsolatedClaimRequest {
            handlers = Set.copyOf(handlers);
        }
    }

    /**
     * Claims isolated runs and marks them, so that another death counts. Returns none while another live node tries
     * isolated runs.
     */
    List<Attempt> claimIsolated(IsolatedClaimRequest request);

    /** Claims one isolated run. */
    default Optional<Attempt> claimOneIsolated(UUID owner, Set<String> handlers) {
        return claimOneIsolated(owner, handlers, null);
    }

    /** Claims one isolated run for a caller without a heartbeat. */
    default Optional<Attempt> claimOneIsolated(UUID owner, Set<String> handlers, @Nullable Duration lease) {
        return claimIsolated(new IsolatedClaimRequest(owner, handlers, 1, false, 0, lease)).stream()
                .findFirst();
    }

    /**
     * Writes the ends of attempts in groups. Returns one result per attempt, in order. Waits for locked rows only
     * briefly, then writes the others without them.
     */
    List<WriteResult> apply(UUID owner, List<EndedAttempt> ended);

    /**
     * Like {@link #apply}, but does not wait for locks: rows that another transaction has locked are
     * {@link WriteResult#LOCKED}.
     */
    List<WriteResult> applyUnlocked(UUID owner, List<EndedAttempt> ended);

    /**
     * Writes one completion inside an open transaction. Returns false if the lease is lost; then the caller
     * must roll back.
     */
    boolean applyIn(Connection transaction, UUID owner, EndedAttempt endedAttempt);

    /**
     * Releases runs whose handlers were not called, without counting an attempt. Returns how many this
     * node still owned.
     */
    default int handBack(UUID owner, List<Attempt> attempts) {
        return handBackRows(owner, attempts.stream().map(OwnedRun::of).toList());
    }

    /** Like {@link #handBack}, by row. */
    default int handBackRows(UUID owner, List<OwnedRun> rows) {
        return handBackRows(owner, rows, Set.of(), true);
    }

    /**
     * Releases runs that never started or had to stop, without counting an attempt. Returns how many it released.
     *
     * @param started the runs whose handlers were called; a tick that is not among them stays under the missed policy
     * @param wait whether to wait briefly for locked rows; rows that stay locked are skipped
     */
    int handBackRows(UUID owner, List<OwnedRun> rows, Set<RunId> started, boolean wait);

    /**
     * Parks runs that run long, so that claims skip their rows. Returns the parked runs; runs that another transaction
     * has locked are not parked.
     */
    Set<RunId> markLongRunning(UUID owner, List<Attempt> attempts);

    /**
     * Releases runs whose handler this node does not have. Parks those whose handler no live node has, and returns the
     * names of the other handlers.
     */
    Set<String> passOn(UUID owner, List<Attempt> attempts);

    /** Returns the runs that this node owns according to the database, to compare them with the attempts it holds. */
    List<OwnedRun> ownedRuns(UUID owner);

    /** Returns the numbers of the claim records of this node, at most 10,000. */
    Set<Long> claimRecords(UUID owner);

    /** Replaces claim records by one for the given runs, if the node is alive. */
    void replaceClaimRecords(UUID owner, Set<Long> removed, long claimNumber, List<OwnedRun> kept);
}
