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

    /**
     * What a node asks for to be tried in isolation: at most so many runs of these handlers, or one run for a caller without a heartbeat, whose {@code lease}
     * says how long it shall hold. {@code busy}: the node has ordinary runs, see {@link Suspicion#pause}.
     */
    record ClaimSuspects(
            UUID owner,
            Set<String> targets,
            int most,
            boolean busy,
            long note,
            @Nullable Duration lease) {
        public ClaimSuspects {
            targets = Set.copyOf(targets);
        }
    }

    /** Takes runs that wait for isolation, marked so that another death counts; none while another living node isolates. */
    List<Attempt> claimSuspects(ClaimSuspects asked);

    /** Takes one of them. */
    default Optional<Attempt> claimSuspect(UUID owner, Set<String> targets) {
        return claimSuspect(owner, targets, null);
    }

    /** Takes one of them for a caller that has no heartbeat. */
    default Optional<Attempt> claimSuspect(UUID owner, Set<String> targets, @Nullable Duration lease) {
        return claimSuspects(new ClaimSuspects(owner, targets, 1, false, 0, lease)).stream()
                .findFirst();
    }

    /** Applies what was decided, in groups; one verdict per attempt, in order. Waits for locked rows, but not for long: the others are written without them. */
    List<Verdict> apply(UUID owner, List<Ended> ended);

    /** Applies what was decided and waits for no lock: rows that another transaction has locked are {@link Verdict#LOCKED}. */
    List<Verdict> applyUnlocked(UUID owner, List<Ended> ended);

    /** Applies one completion inside an open transaction; false: the lease is lost and the caller must roll back. */
    boolean applyIn(Connection transaction, UUID owner, Ended ended);

    /** Lets runs go whose handlers were not called, counting nothing. Returns how many were still this node's. */
    default int handBack(UUID owner, List<Attempt> attempts) {
        return handBackRows(owner, attempts.stream().map(HeldRun::of).toList());
    }

    /** Lets runs go whose handlers were not called, as {@link #handBack} does, by their rows. */
    default int handBackRows(UUID owner, List<HeldRun> rows) {
        return handBackRows(owner, rows, Set.of(), true);
    }

    /**
     * Lets runs go that never started or had to stop, counting nothing; {@code started}: those of them whose handlers were called. A tick among the others
     * stays under the missed policy. {@code wait}: waits for locked rows, but not for long; rows that stay locked are skipped. Returns how many it let go.
     */
    int handBackRows(UUID owner, List<HeldRun> rows, Set<RunId> started, boolean wait);

    /** Takes runs that run long out of the claim's way. Returns those it parked; one that another transaction has locked is not among them. */
    Set<RunId> parkRunning(UUID owner, List<Attempt> attempts);

    /** Lets runs go whose target this node does not know; parks those that no living node knows, and returns the names of the others. */
    Set<String> passOn(UUID owner, List<Attempt> attempts);

    /** What the database says this node holds, to be compared with what it really holds. */
    List<HeldRun> held(UUID owner);

    /** The numbers of the claims whose notes the store has for this node, at most 10,000. */
    Set<Long> notes(UUID owner);

    /** Removes notes and adds one for these runs instead, if the node is alive. */
    void rewriteNotes(UUID owner, Set<Long> seqs, long note, List<HeldRun> kept);
}
