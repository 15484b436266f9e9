package io.carillon.internal.engine.attempt;

import io.carillon.internal.store.node.ProgressUpdate;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.internal.store.run.RunStore;
import io.carillon.run.RunId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The attempts that this node holds, by run: queued, running, and ended but not yet written; and the claim notes that
 * the store keeps for this node. Every run that this node may own in the database is listed in a claim note, so that
 * other nodes find it if this node dies.
 */
public final class ActiveAttempts {
    private final Map<RunId, ActiveAttempt> byRun = new ConcurrentHashMap<>();
    private final Set<ActiveAttempt> unconfirmed = ConcurrentHashMap.newKeySet();
    private final AtomicLong lastClaimNumber = new AtomicLong();
    private final Map<ClaimNote, Integer> runCountByNote = new ConcurrentHashMap<>();
    private final Set<ClaimNote> obsoleteNotes = ConcurrentHashMap.newKeySet();
    private volatile Runnable onSkipped = () -> {};

    /** A claim note of the store, identified by the claim's number. */
    private record ClaimNote(UUID owner, long number) {}

    /**
     * A change to the claim notes of a node: the notes to remove, and a new note for the remaining runs of these notes.
     */
    public record ClaimNoteUpdate(Set<Long> removed, long claimNumber, List<ActiveAttempt> remaining) {
        public List<OwnedRun> ownedRuns() {
            return remaining.stream().map(ActiveAttempts::toOwnedRun).toList();
        }
    }

    public static OwnedRun toOwnedRun(ActiveAttempt one) {
        return new OwnedRun(one.attemptValue().lane().project(), one.id(), one.attempt());
    }

    /** Returns the number for the next claim. */
    public long nextClaimNumber() {
        return lastClaimNumber.incrementAndGet();
    }

    /**
     * Records the note of a claim after all its runs were added here or released. Must not be called for a failed
     * claim, because that claim may have committed.
     */
    public void recordClaimNote(UUID owner, long claimNumber, int runs) {
        if (runs > 0) runCountByNote.put(new ClaimNote(owner, claimNumber), runs);
    }

    /** Removes the notes of a node id that was declared dead, because the nodes that rescue its runs use them. */
    public void forgetClaimNotes(UUID owner) {
        runCountByNote.keySet().removeIf(claimNote -> claimNote.owner.equals(owner));
        obsoleteNotes.removeIf(claimNote -> claimNote.owner.equals(owner));
    }

    /**
     * Returns the change to make to the notes of this node, or empty if there is none. Notes with less than half of
     * their runs left are merged.
     */
    public Optional<ClaimNoteUpdate> planNoteUpdate(UUID owner) {
        Map<ClaimNote, Integer> notes = Map.copyOf(runCountByNote);
        Map<Long, List<ActiveAttempt>> remaining = byClaimNumber(owner);
        Set<Long> removed = new HashSet<>();
        List<ActiveAttempt> kept = new ArrayList<>();
        notes.forEach((claimNote, runs) -> {
            if (!claimNote.owner.equals(owner)) return;
            List<ActiveAttempt> rest = remaining.getOrDefault(claimNote.number, List.of());
            if (rest.size() * 2 >= runs) return;
            removed.add(claimNote.number);
            kept.addAll(rest);
        });
        // A reconciliation may have read a note before it was recorded here. Keep notes that are recorded by now or
        // still needed.
        for (ClaimNote claimNote : obsoleteNotes)
            if (claimNote.owner.equals(owner)
                    && !notes.containsKey(claimNote)
                    && !remaining.containsKey(claimNote.number)) removed.add(claimNote.number);
        if (removed.isEmpty()) return Optional.empty();
        return Optional.of(new ClaimNoteUpdate(removed, nextClaimNumber(), kept));
    }

    /** Records that the store has made the change. */
    public void applyNoteUpdate(UUID owner, ClaimNoteUpdate update) {
        update.remaining().forEach(one -> one.claimNumber(update.claimNumber()));
        recordClaimNote(owner, update.claimNumber(), update.remaining().size());
        if (!update.remaining().isEmpty()) obsoleteNotes.remove(new ClaimNote(owner, update.claimNumber()));
        for (long number : update.removed()) {
            runCountByNote.remove(new ClaimNote(owner, number));
            obsoleteNotes.remove(new ClaimNote(owner, number));
        }
    }

    /**
     * Records that the rows of these notes were compared with the attempts held here. Notes of unanswered claims may be
     * removed, and the given unconfirmed attempts are settled.
     */
    public void markReconciled(UUID owner, Set<Long> notes, Set<ActiveAttempt> confirmed) {
        Set<Long> needed = byClaimNumber(owner).keySet();
        for (long number : notes) {
            ClaimNote claimNote = new ClaimNote(owner, number);
            if (!runCountByNote.containsKey(claimNote) && !needed.contains(number)) obsoleteNotes.add(claimNote);
        }
        unconfirmed.removeAll(confirmed);
    }

    /**
     * Returns all attempts, including unconfirmed ones. Reads in this order, so that an attempt that moves meanwhile is
     * seen at least once.
     */
    private Stream<ActiveAttempt> allKnown() {
        return Stream.concat(List.copyOf(byRun.values()).stream(), List.copyOf(unconfirmed).stream())
                .distinct();
    }

    private Map<Long, List<ActiveAttempt>> byClaimNumber(UUID owner) {
        return allKnown()
                .filter(one -> one.owner().equals(owner))
                .collect(Collectors.groupingBy(ActiveAttempt::claimNumber));
    }

    /** Returns the attempts that were removed although the database did not confirm their end. */
    public Set<ActiveAttempt> unconfirmed() {
        return Set.copyOf(unconfirmed);
    }

    /** Removes an attempt whose end the database rejected. The node may still own its row. */
    public void removeUnconfirmed(ActiveAttempt one) {
        unconfirmed.add(one);
        remove(one);
    }

    /**
     * Sets the action that runs when a hand-back may have skipped locked rows. This node owns these rows until a
     * reconciliation hands them back.
     */
    public void onSkipped(Runnable action) {
        onSkipped = action;
    }

    /**
     * Hands back attempts and removes them. If the store released fewer rows, some may be locked, and the
     * attempts stay unconfirmed.
     */
    public void handBack(RunStore runs, UUID owner, List<ActiveAttempt> some) {
        int done = runs.handBackRows(
                owner, some.stream().map(ActiveAttempts::toOwnedRun).toList(), startedRuns(some.stream()), true);
        boolean all = done == some.size();
        some.forEach(all ? this::remove : this::removeUnconfirmed);
        if (!all) onSkipped.run();
    }

    /** Returns the known runs whose handler this node has called. */
    public Set<RunId> startedRuns() {
        return startedRuns(allKnown());
    }

    private static Set<RunId> startedRuns(Stream<ActiveAttempt> some) {
        return some.filter(ActiveAttempt::isStarted).map(ActiveAttempt::id).collect(Collectors.toSet());
    }

    public void add(ActiveAttempt one) {
        byRun.put(one.id(), one);
    }

    /** Removes an attempt, unless a later attempt of the same run has replaced it. */
    public void remove(ActiveAttempt one) {
        byRun.remove(one.id(), one);
    }

    public Optional<ActiveAttempt> find(RunId run) {
        return Optional.ofNullable(byRun.get(run));
    }

    public Collection<ActiveAttempt> all() {
        return byRun.values();
    }

    public int size() {
        return byRun.size();
    }

    /** Returns the latest progress that handlers reported. */
    public List<ProgressUpdate> progress() {
        return byRun.values().stream()
                .filter(one -> one.latestProgress() != null)
                .map(one -> new ProgressUpdate(
                        one.attemptValue().lane().project(),
                        one.id(),
                        one.attempt(),
                        java.util.Objects.requireNonNull(one.latestProgress())))
                .toList();
    }
}
