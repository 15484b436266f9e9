package io.carillon.internal.engine.attempt;

import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.store.node.ProgressUpdate;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.internal.store.run.RunStore;
import io.carillon.run.RunId;
import java.time.Duration;
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
 * The attempts that this node holds, by run: queued, running, and ended but not yet written; and the claim records that
 * the store keeps for this node. Every run that this node may own in the database is listed in a claim record, so that
 * other nodes find it if this node dies.
 */
public final class ActiveAttempts {
    /** Short attempts end before anyone reads their log; it is written once, when they end. */
    private static final Duration MIN_AGE_TO_LOG = Duration.ofSeconds(1);

    private final Map<RunId, ActiveAttempt> byRun = new ConcurrentHashMap<>();
    private final Set<ActiveAttempt> unconfirmed = ConcurrentHashMap.newKeySet();
    private final AtomicLong lastClaimNumber = new AtomicLong();
    private final Map<ClaimRecord, Integer> runCountByRecord = new ConcurrentHashMap<>();
    private final Set<ClaimRecord> obsoleteRecords = ConcurrentHashMap.newKeySet();
    private final LoopReports reports;

    public ActiveAttempts(LoopReports reports) {
        this.reports = reports;
    }

    /** A claim record of the store, identified by the claim's number. */
    private record ClaimRecord(UUID owner, long number) {}

    /**
     * A change to the claim records of a node: the records to remove, and a new record for the runs that remain of
     * these.
     */
    public record ClaimRecordUpdate(Set<Long> removed, long claimNumber, List<ActiveAttempt> remaining) {
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
     * Records the record of a claim after all its runs were added here or released. Must not be called for a failed
     * claim, because that claim may have committed.
     */
    public void recordClaimRecord(UUID owner, long claimNumber, int runs) {
        if (runs > 0) runCountByRecord.put(new ClaimRecord(owner, claimNumber), runs);
    }

    /** Removes the records of a node id that was declared dead, because the nodes that rescue its runs use them. */
    public void forgetClaimRecords(UUID owner) {
        runCountByRecord.keySet().removeIf(claimRecord -> claimRecord.owner.equals(owner));
        obsoleteRecords.removeIf(claimRecord -> claimRecord.owner.equals(owner));
    }

    /**
     * Returns the change to make to the records of this node, or empty if there is none. Records with less than half of
     * their runs left are merged.
     */
    public Optional<ClaimRecordUpdate> planRecordUpdate(UUID owner) {
        Map<ClaimRecord, Integer> records = Map.copyOf(runCountByRecord);
        Map<Long, List<ActiveAttempt>> remaining = byClaimNumber(owner);
        Set<Long> removed = new HashSet<>();
        List<ActiveAttempt> kept = new ArrayList<>();
        records.forEach((claimRecord, runs) -> {
            if (!claimRecord.owner.equals(owner)) return;
            List<ActiveAttempt> rest = remaining.getOrDefault(claimRecord.number, List.of());
            if (rest.size() * 2 >= runs) return;
            removed.add(claimRecord.number);
            kept.addAll(rest);
        });
        // A reconciliation may have read a record before it was recorded here. Keep records that are recorded by now or
        // still needed.
        for (ClaimRecord claimRecord : obsoleteRecords)
            if (claimRecord.owner.equals(owner)
                    && !records.containsKey(claimRecord)
                    && !remaining.containsKey(claimRecord.number)) removed.add(claimRecord.number);
        if (removed.isEmpty()) return Optional.empty();
        return Optional.of(new ClaimRecordUpdate(removed, nextClaimNumber(), kept));
    }

    /** Records that the store has made the change. */
    public void applyRecordUpdate(UUID owner, ClaimRecordUpdate update) {
        update.remaining().forEach(one -> one.claimNumber(update.claimNumber()));
        recordClaimRecord(owner, update.claimNumber(), update.remaining().size());
        if (!update.remaining().isEmpty()) obsoleteRecords.remove(new ClaimRecord(owner, update.claimNumber()));
        for (long number : update.removed()) {
            runCountByRecord.remove(new ClaimRecord(owner, number));
            obsoleteRecords.remove(new ClaimRecord(owner, number));
        }
    }

    /**
     * Records that the rows of these claim records were compared with the attempts held here. Records of unanswered
     * claims may be removed, and the given unconfirmed attempts are settled.
     */
    public void markReconciled(UUID owner, Set<Long> records, Set<ActiveAttempt> confirmed) {
        Set<Long> needed = byClaimNumber(owner).keySet();
        for (long number : records) {
            ClaimRecord claimRecord = new ClaimRecord(owner, number);
            if (!runCountByRecord.containsKey(claimRecord) && !needed.contains(number))
                obsoleteRecords.add(claimRecord);
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
     * Hands back attempts and removes them. If the store released fewer rows, some may be locked: the attempts stay
     * unconfirmed, and this node owns the rows until a reconciliation hands them back.
     */
    public void handBack(RunStore runs, UUID owner, List<ActiveAttempt> some) {
        int done = runs.handBackRows(
                owner, some.stream().map(ActiveAttempts::toOwnedRun).toList(), startedRuns(some.stream()), true);
        boolean all = done == some.size();
        some.forEach(all ? this::remove : this::removeUnconfirmed);
        if (!all) reports.onOwnershipUncertain();
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

    /** Returns the latest progress and log of the handlers that reported something. */
    public List<ProgressUpdate> progress() {
        return byRun.values().stream()
                .map(one -> new ProgressUpdate(
                        one.attemptValue().lane().project(),
                        one.id(),
                        one.attempt(),
                        one.latestProgress(),
                        one.sinceStart().compareTo(MIN_AGE_TO_LOG) < 0 ? null : one.recentLog()))
                .filter(update -> update.progress() != null || update.log() != null)
                .toList();
    }
}
