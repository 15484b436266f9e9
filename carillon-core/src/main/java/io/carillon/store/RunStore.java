package io.carillon.store;

import io.carillon.run.Attempt;
import io.carillon.run.RunId;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The life of runs between claim and end. Every write that ends or extends an attempt is fenced by its owner and number. */
public interface RunStore {
    /** Takes due runs for a living node, lane by lane up to each quota; what another node has locked is skipped. */
    Claimed claim(ClaimRequest request);

    /** Takes one run whose node died while holding it, marked so that another death counts as a crash. */
    default Optional<Attempt> claimSuspect(UUID owner, Set<String> targets) {
        return claimSuspect(owner, targets, null);
    }

    /** The same for whoever has no heartbeat: {@code lease} says how long it shall hold. */
    Optional<Attempt> claimSuspect(UUID owner, Set<String> targets, @Nullable Duration lease);

    /** Applies what was decided, in groups; one verdict per attempt, in order. Waits for locked rows, but not for long: the others are written without them. */
    List<Verdict> apply(UUID owner, List<Ended> ended);

    /** Applies what was decided and waits for no lock: rows that another transaction has locked are {@link Verdict#LOCKED}. */
    List<Verdict> applyUnlocked(UUID owner, List<Ended> ended);

    /** Applies one completion inside an open transaction; false: the lease is lost and the caller must roll back. */
    boolean applyIn(Connection transaction, UUID owner, Ended ended);

    /** Lets runs go that never started or had to stop, counting nothing. Returns how many were still ours. */
    default int handBack(UUID owner, List<Attempt> attempts) {
        return handBackRows(owner, attempts.stream().map(HeldRun::of).toList());
    }

    /** The same for rows this node owns without holding them. */
    int handBackRows(UUID owner, List<HeldRun> rows);

    /** Takes runs that run long out of the claim's way. Returns those it parked; one that another transaction has locked is not among them. */
    Set<RunId> parkRunning(UUID owner, List<Attempt> attempts);

    /** Lets runs go whose target this node does not know; parks those that no living node knows, and returns the names of the others. */
    Set<String> passOn(UUID owner, List<Attempt> attempts);

    /** What the database says this node holds, to be compared with what it really holds. */
    List<HeldRun> held(UUID owner);
}
