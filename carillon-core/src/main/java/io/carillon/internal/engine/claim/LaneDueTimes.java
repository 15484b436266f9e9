package io.carillon.internal.engine.claim;

import static java.util.Objects.requireNonNull;

import io.carillon.internal.engine.claim.LaneTurns.DueEntry;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.LaneDue;
import io.carillon.run.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;

/**
 * The due times that this node knows: when each priority of each lane next has a run to claim, and from which instant
 * claims start. All entries are hints. Polls find the lanes that are missing here.
 */
public final class LaneDueTimes {
    /** A late commit may add a run whose ready time has passed. A full poll finds runs that are older than this. */
    private static final Duration LATE_COMMIT = Duration.ofSeconds(10);

    /** After a claim that got fewer runs than it asked for, older runs are already claimed or a hint reports them. */
    private static final Duration CLAIM_LOOKBACK = Duration.ofSeconds(1);

    private static final Duration FIRST_BACKOFF = Duration.ofMillis(10);
    private static final Duration MAX_BACKOFF = Duration.ofSeconds(1);
    private static final int MAX_LANES = 1_000;

    /**
     * The time after which a lane that has its share of the slots is checked again, if none of its runs ended earlier.
     */
    private static final Duration NO_CAPACITY_RECHECK = Duration.ofMillis(250);

    private final LaneTurns turns = new LaneTurns();

    /** The entries for which the last poll read future instants. */
    private final List<DueEntry> entriesWithUpcoming = new ArrayList<>();

    private final ToIntFunction<Lane> capacity;
    /** The configured weights. All other lanes have weight 1. */
    private Map<Lane, Integer> weights = Map.of();

    private Instant lastTake = Instant.MIN;
    /** The last poll read all runs that are ready before this instant. */
    private Instant seenUntil = Instant.MIN;
    /** The earliest hint since that poll began. Hints are coalesced, so later runs may follow this one. */
    private Instant earliestHintSincePoll = Instant.MAX;
    /** Lanes that had nothing due when a hint reported a run that is ready. */
    private final Set<Lane> newLanes = new LinkedHashSet<>();

    /** The part of a lane's last turn that it did not get. */
    private final Map<Lane, Integer> unusedShare = new HashMap<>();

    /** {@code capacity} returns how many more runs of a lane this node may hold. */
    public LaneDueTimes(ToIntFunction<Lane> capacity) {
        this.capacity = capacity;
    }

    /** Sets the weights that a poll read. */
    public synchronized void setWeights(Map<Lane, Integer> newWeights) {
        if (newWeights.equals(weights)) return;
        weights = newWeights;
        unusedShare.clear();
    }

    /**
     * Records that a lane has a run ready at this instant, of any priority. Returns whether the run is ready now and
     * the lane has no backlog.
     */
    public synchronized boolean hint(Lane lane, Instant readyAt, Instant now) {
        boolean ready = !readyAt.isAfter(now);
        Instant at = ready ? now : readyAt;
        if (at.isBefore(earliestHintSincePoll)) earliestHintSincePoll = at;
        boolean idle = ready;
        boolean hasBacklog = false;
        for (Priority priority : Priority.values()) {
            DueEntry dueEntry = turns.entry(lane, priority);
            if (!dueEntry.readyAt().isAfter(now)) idle = false;
            dueEntry.clearBackoff();
            Instant readyFrom = at.isBefore(dueEntry.limitedUntil) ? dueEntry.limitedUntil : at;
            if (readyFrom.isBefore(dueEntry.readyAt())) dueEntry.readyAt(readyFrom);
            dueEntry.lowerClaimFrom(at.minus(LATE_COMMIT));
            if (dueEntry.backlogged()) hasBacklog = true;
        }
        if (idle && !hasBacklog) newLanes.add(lane);
        return ready && !hasBacklog;
    }

    /** Records that a poll begins. The poll may not see runs that hints report from now on. */
    synchronized void beginPoll() {
        seenUntil = Instant.MIN;
        earliestHintSincePoll = Instant.MAX;
    }

    /** Records the result of a poll that read all runs ready before the given instant. */
    public synchronized void finishPoll(List<LaneDue> found, Instant until) {
        seenUntil = until;
        entriesWithUpcoming.forEach(dueEntry -> dueEntry.upcoming.clear());
        entriesWithUpcoming.clear();
        LaneDue.sortedByReadyAt(found).forEach(due -> {
            DueEntry dueEntry = recordDue(due);
            if (!due.readyAt().isAfter(dueEntry.backoffUntil)) return;
            dueEntry.upcoming.addLast(due.readyAt());
            entriesWithUpcoming.add(dueEntry);
        });
    }

    /** Records the result of a scan. Lanes that were unknown are ordered by how long their first run has waited. */
    synchronized void recordDue(List<LaneDue> found) {
        LaneDue.sortedByReadyAt(found).forEach(this::recordDue);
    }

    private DueEntry recordDue(LaneDue due) {
        DueEntry dueEntry = turns.entry(due.lane(), due.priority());
        Instant at = due.readyAt().isBefore(dueEntry.backoffUntil) ? dueEntry.backoffUntil : due.readyAt();
        if (at.isBefore(dueEntry.limitedUntil)) at = dueEntry.limitedUntil;
        if (at.isBefore(dueEntry.readyAt())) dueEntry.readyAt(at);
        dueEntry.lowerClaimFrom(due.readyAt());
        return dueEntry;
    }

    /**
     * Returns whether nothing can become ready before {@link #nextReady}, if every node sends a hint for each
     * run it stores.
     */
    synchronized boolean isNextReadyCertain() {
        if (seenUntil.equals(Instant.MIN)) return false;
        Instant next = nextReady();
        return after(seenUntil, next) && after(earliestHintSincePoll, next);
    }

    private static boolean after(Instant bound, Instant next) {
        return bound.equals(Instant.MAX) || next.isBefore(bound);
    }

    /** Returns when the next known run is ready, or {@link Instant#MAX} if none is known. */
    synchronized Instant nextReady() {
        return turns.nextReady();
    }

    /**
     * Divides a claim among the lanes that are due: equally among projects, by weight among the lanes of a project, and
     * 8:4:2:1 among the priorities of a lane. The entries taken are no longer due; {@link #recordFullClaim} makes those
     * due again that have more runs, and a hint that arrives meanwhile is kept.
     */
    public synchronized List<ClaimRequest.LaneClaim> takeLaneClaims(int total, Instant now) {
        lastTake = now;
        Map<String, Map<Lane, Map<Priority, DueEntry>>> due = new LinkedHashMap<>();
        turns.visitDue(now, new LaneTurns.Visitor() {
            private Map<Lane, Map<Priority, DueEntry>> lanes = new LinkedHashMap<>();
            private int found;

            @Override
            public boolean visitLane(Lane lane, Map<Priority, DueEntry> classes) {
                addIfReady(lane, classes, now, lanes);
                return lanes.size() < MAX_LANES && lanes.size() < total;
            }

            @Override
            public boolean endProject(String project) {
                found += lanes.size();
                if (!lanes.isEmpty()) due.put(project, lanes);
                lanes = new LinkedHashMap<>();
                return found < MAX_LANES && due.size() < total;
            }
        });
        return share(total, due, now);
    }

    /**
     * While some lanes have a backlog, returns laneClaims for lanes with new work, so that these are not claimed in the
     * same large claim.
     */
    synchronized List<ClaimRequest.LaneClaim> takeNewLaneClaims(int total, Instant now) {
        if (newLanes.isEmpty() || !turns.hasBacklog()) return List.of();
        Map<String, Map<Lane, Map<Priority, DueEntry>>> due = new LinkedHashMap<>();
        for (Lane lane : newLanes) {
            if (due.size() == total) break;
            Map<Lane, Map<Priority, DueEntry>> ready = new LinkedHashMap<>();
            addIfReady(lane, turns.entriesOf(lane), now, ready);
            if (!ready.isEmpty())
                due.computeIfAbsent(lane.project(), project -> new LinkedHashMap<>())
                        .putAll(ready);
        }
        return share(total, due, now);
    }

    private List<ClaimRequest.LaneClaim> share(
            int total, Map<String, Map<Lane, Map<Priority, DueEntry>>> due, Instant now) {
        List<ClaimRequest.LaneClaim> laneClaims = new ArrayList<>();
        ClaimPacing.divideEqually(total, due.keySet()).forEach((project, part) -> {
            divideAmongLanes(requireNonNull(due.get(project)), part, now, laneClaims);
            turns.moveBehindOthers(project);
        });
        return laneClaims;
    }

    /** Adds a lane that is due if this node has capacity for it. */
    private void addIfReady(
            Lane lane, Map<Priority, DueEntry> entries, Instant now, Map<Lane, Map<Priority, DueEntry>> due) {
        Map<Priority, DueEntry> ready = readyEntries(entries, now);
        if (ready.isEmpty()) return;
        if (capacity.applyAsInt(lane) <= 0)
            ready.values().forEach(dueEntry -> dueEntry.limitUntil(now.plus(NO_CAPACITY_RECHECK)));
        else due.put(lane, ready);
    }

    /** Divides the part of a project among its lanes that are due. */
    private void divideAmongLanes(
            Map<Lane, Map<Priority, DueEntry>> due, int total, Instant now, List<ClaimRequest.LaneClaim> laneClaims) {
        divideByWeight(total, due.keySet()).forEach((lane, part) -> {
            Map<Priority, DueEntry> entries = requireNonNull(due.get(lane));
            Map<Priority, Integer> counts = share(Math.min(part, capacity.applyAsInt(lane)), entries);
            boolean all = true;
            for (Map.Entry<Priority, DueEntry> entry : entries.entrySet()) {
                int count = counts.getOrDefault(entry.getKey(), 0);
                if (count == 0) {
                    all = false;
                    continue;
                }
                laneClaims.add(new ClaimRequest.LaneClaim(lane, entry.getKey(), count, entry.getValue().claimFrom));
                entry.getValue().advancePast(now);
            }
            // A hint names no priority: until each was asked for, the new run may be of another one.
            if (all) newLanes.remove(lane);
            if (unusedShare.getOrDefault(lane, 0) == 0) turns.moveBehindOthers(lane);
        });
    }

    private static Map<Priority, DueEntry> readyEntries(Map<Priority, DueEntry> entries, Instant now) {
        Map<Priority, DueEntry> ready = new EnumMap<>(Priority.class);
        entries.forEach((priority, dueEntry) -> {
            if (!dueEntry.readyAt().isAfter(now)) ready.put(priority, dueEntry);
        });
        return ready;
    }

    /**
     * Gives each lane a multiple of its weight if the batch is large enough for all lanes. Otherwise the lanes take
     * turns: a lane that got less than its weight stays first and gets the rest of its turn before other lanes.
     */
    private Map<Lane, Integer> divideByWeight(int total, Set<Lane> due) {
        if (weights.isEmpty()) return ClaimPacing.divideEqually(total, due);
        Map<Lane, Integer> parts = new LinkedHashMap<>();
        int rounds = Math.max(1, total / due.stream().mapToInt(this::weight).sum());
        int left = total;
        for (Lane lane : due) {
            if (left == 0) break;
            int rest = unusedShare.getOrDefault(lane, 0);
            int turn = rest > 0 ? rest : rounds * weight(lane);
            int part = Math.min(left, turn);
            parts.put(lane, part);
            unusedShare.put(lane, turn - part);
            left -= part;
        }
        return parts;
    }

    private int weight(Lane lane) {
        return weights.getOrDefault(lane, 1);
    }

    /**
     * Divides by share. The remainder goes one by one to the priority with the highest credit, so that small batches
     * also serve every priority.
     */
    private static Map<Priority, Integer> share(int part, Map<Priority, DueEntry> entries) {
        int shares = entries.keySet().stream().mapToInt(Priority::share).sum();
        Map<Priority, Integer> counts = new EnumMap<>(Priority.class);
        entries.keySet().forEach(priority -> counts.put(priority, part / shares * priority.share()));
        for (int rest = part % shares; rest > 0; rest--) {
            entries.forEach((priority, dueEntry) -> dueEntry.credit += priority.share());
            Map.Entry<Priority, DueEntry> next =
                    Collections.max(entries.entrySet(), Comparator.comparingInt(one -> one.getValue().credit));
            next.getValue().credit -= shares;
            counts.merge(next.getKey(), 1, Integer::sum);
        }
        return counts;
    }

    /**
     * Records that a claim got all runs it asked for, so there are probably more. The next claim starts at the lowest
     * ready time of this one.
     */
    synchronized void recordFullClaim(Lane lane, Priority priority, Instant lowest, Instant now) {
        DueEntry dueEntry = turns.entry(lane, priority);
        dueEntry.clearBackoff();
        dueEntry.backlogged(true);
        newLanes.remove(lane);
        dueEntry.readyAt(now);
        dueEntry.claimFrom = dueEntry.earliestDuringClaim.isBefore(lowest) ? dueEntry.earliestDuringClaim : lowest;
    }

    /**
     * Records that a claim got nothing although a poll had seen a run: the lane is paused, its runs need handlers of
     * other nodes, or other nodes hold them. For a time that doubles with each empty claim, entries that polls read for
     * this lane are ignored; a hint ends that time.
     */
    synchronized void recordEmptyClaim(Lane lane, Priority priority, Instant now) {
        DueEntry dueEntry = turns.entry(lane, priority);
        dueEntry.backlogged(false);
        dueEntry.upcoming.clear();
        dueEntry.backoff = dueEntry.backoff.isZero() ? FIRST_BACKOFF : dueEntry.backoff.multipliedBy(2);
        if (dueEntry.backoff.compareTo(MAX_BACKOFF) > 0) dueEntry.backoff = MAX_BACKOFF;
        dueEntry.backoffUntil = now.plus(dueEntry.backoff);
    }

    /**
     * Records that a limit was reached. Hints and polls do not make the lane due before this instant;
     * {@link #recordCapacityFreed} does.
     */
    synchronized void recordLimitReached(Lane lane, Priority priority, Instant until) {
        DueEntry dueEntry = turns.entry(lane, priority);
        dueEntry.clearBackoff();
        dueEntry.limitUntil(until);
    }

    /** Records that a run of this lane has ended, so that a limit that was reached no longer holds. */
    public synchronized void recordCapacityFreed(Lane lane, Instant now) {
        for (DueEntry dueEntry : turns.entriesOf(lane).values()) {
            if (!dueEntry.limitedUntil.isAfter(now)) continue;
            dueEntry.limitedUntil = Instant.MIN;
            if (now.isBefore(dueEntry.readyAt())) dueEntry.readyAt(now);
        }
    }

    /**
     * Records that a claim got some runs, the last of them ready at this instant, but fewer than it asked for: there
     * are no more.
     */
    synchronized void recordPartialClaim(Lane lane, Priority priority, Instant last, Instant now) {
        DueEntry dueEntry = turns.entry(lane, priority);
        dueEntry.backlogged(false);
        dueEntry.clearBackoff();
        Instant from = now.minus(CLAIM_LOOKBACK);
        dueEntry.claimFrom = dueEntry.earliestDuringClaim.isBefore(from) ? dueEntry.earliestDuringClaim : from;
        // The claim also took runs that became ready while it was executed.
        if (dueEntry.earliestDuringClaim.equals(Instant.MAX)) dueEntry.advancePast(last.isAfter(now) ? last : now);
    }

    /** Makes laneClaims due again after a claim failed, because the state of their lanes is unknown. */
    synchronized void markDue(List<ClaimRequest.LaneClaim> laneClaims, Instant now) {
        laneClaims.forEach(
                laneClaim -> turns.entry(laneClaim.lane(), laneClaim.priority()).readyAt(now));
    }

    /**
     * Removes all lanes because the database clock, from which their instants were read, was set back. The next poll
     * finds them again.
     */
    public synchronized void clear() {
        turns.clear();
        entriesWithUpcoming.clear();
        unusedShare.clear();
        beginPoll();
    }

    /** Removes lanes without due runs, so that the memory used depends on the pending work only. */
    synchronized void removeIdleLanes() {
        turns.removeIdle(lastTake);
        unusedShare.keySet().removeIf(lane -> turns.entriesOf(lane).isEmpty());
        newLanes.removeIf(lane -> turns.entriesOf(lane).isEmpty());
    }
}
