package io.carillon.internal.engine.claim;

import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.engine.node.Node;
import io.carillon.internal.engine.wakeup.WakeupController;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.ClaimResult;
import io.carillon.internal.store.run.IsolationRule;
import io.carillon.internal.store.run.LaneDue;
import io.carillon.internal.store.run.LaneStore;
import io.carillon.internal.store.run.RunStore;
import io.carillon.run.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes a claim: sends the laneClaims, records in {@link LaneDueTimes} what the answer means, and adds the claimed
 * attempts to the ready queue. The claimer makes one claim after another. While it waits for the answer to a large
 * claim, one small claim may run beside it.
 */
public final class ClaimExecutor {
    private static final Logger log = LoggerFactory.getLogger(ClaimExecutor.class);

    /** Claims of fewer runs return quickly, so no other claim runs beside them. */
    private static final int LARGE_CLAIM = 50;

    private final RunStore runs;
    private final LaneStore lanes;
    private final LaneDueTimes laneDueTimes;
    private final Node node;
    private final WakeupController.BacklogBroadcaster backlogBroadcaster;
    /** Handlers that other nodes have and this one does not. */
    private final Set<String> unknownHandlers = ConcurrentHashMap.newKeySet();

    private final SeenHandlers seenHandlers;

    private volatile Set<Lane> limitedLanes = Set.of();
    private volatile boolean largeClaimActive;
    private boolean besideClaimActive;

    public ClaimExecutor(
            Storage storage,
            LaneDueTimes laneDueTimes,
            Node node,
            WakeupController.BacklogBroadcaster backlogBroadcaster) {
        this.runs = storage.runs();
        this.lanes = storage.lanes();
        this.laneDueTimes = laneDueTimes;
        this.node = node;
        this.backlogBroadcaster = backlogBroadcaster;
        this.seenHandlers = new SeenHandlers(node.handlers().names());
    }

    /** The number of runs that a claim got, and whether a lane had fewer runs than the claim asked for. */
    record ClaimSummary(int claimedCount, boolean exhausted) {
        private static final ClaimSummary NONE = new ClaimSummary(0, false);

        private ClaimSummary plus(ClaimSummary other) {
            return new ClaimSummary(claimedCount + other.claimedCount, exhausted || other.exhausted);
        }
    }

    /** Sets the lanes for which a poll read limits. */
    void limited(Set<Lane> newLimitedLanes) {
        limitedLanes = newLimitedLanes;
    }

    boolean limited(Lane lane) {
        return limitedLanes.contains(lane);
    }

    /** Records the handlers seen in each lane and removes runs whose handler this node does not have. */
    List<LaneDue> filterKnownHandlers(List<LaneDue> due) {
        List<LaneDue> own = due.stream()
                .filter(one -> !unknownHandlers.contains(one.handler()))
                .toList();
        own.forEach(one -> seenHandlers.add(one.lane(), one.handler()));
        return own;
    }

    /**
     * Adds the handlers to claim for: those seen in the lane, and the handler named like the queue. If there is none,
     * the claim accepts all handlers except the unknown ones.
     */
    private ClaimRequest.LaneClaim withHandlers(ClaimRequest.LaneClaim laneClaim) {
        String queue = laneClaim.lane().queue();
        Set<String> handlers = new HashSet<>(seenHandlers.handlersOf(laneClaim.lane()));
        if (node.handlers().names().contains(queue)) handlers.add(queue);
        handlers.removeAll(unknownHandlers);
        return laneClaim.withHandlers(handlers);
    }

    /** Forgets the unknown handlers, because the nodes that have them may have stopped. */
    void forgetUnknownHandlers() {
        unknownHandlers.clear();
    }

    /** Executes a claim. Only the claimer calls this. */
    ClaimSummary claim(List<ClaimRequest.LaneClaim> laneClaims, boolean ahead, Instant now) {
        if (laneClaims.stream().mapToInt(ClaimRequest.LaneClaim::count).sum() < LARGE_CLAIM)
            return execute(laneClaims, ahead, now);
        largeClaimActive(true);
        try {
            return execute(laneClaims, ahead, now);
        } finally {
            largeClaimActive(false);
        }
    }

    private synchronized void largeClaimActive(boolean active) {
        largeClaimActive = active;
    }

    /** Returns whether the claimer waits for the answer to a large claim. */
    boolean largeClaimActive() {
        return largeClaimActive;
    }

    /**
     * Executes a small claim beside a large one. If no large claim is being executed, makes the lanes due again for
     * the claimer.
     */
    void claimBesideLargeClaim(List<ClaimRequest.LaneClaim> laneClaims, Instant now) {
        synchronized (this) {
            besideClaimActive = largeClaimActive;
            if (!besideClaimActive) {
                laneDueTimes.markDue(laneClaims, now);
                return;
            }
        }
        try {
            execute(laneClaims, true, now);
        } finally {
            synchronized (this) {
                besideClaimActive = false;
            }
        }
    }

    /**
     * Returns whether all claims are answered. The claimer calls this between two of its own claims, when no other
     * claim can begin.
     */
    synchronized boolean allClaimsAnswered() {
        return !besideClaimActive;
    }

    private ClaimSummary execute(List<ClaimRequest.LaneClaim> laneClaims, boolean ahead, Instant now) {
        List<ClaimRequest.LaneClaim> unlimitedClaims = new ArrayList<>();
        List<ClaimRequest.LaneClaim> limitedClaims = new ArrayList<>();
        for (ClaimRequest.LaneClaim laneClaim : laneClaims)
            (limited(laneClaim.lane()) ? limitedClaims : unlimitedClaims).add(laneClaim);
        try {
            ClaimSummary first = execute(unlimitedClaims, runs::claim, ahead, now);
            unlimitedClaims.clear();
            return first.plus(execute(limitedClaims, lanes::claim, ahead, now));
        } catch (RuntimeException | Error failure) {
            laneDueTimes.markDue(unlimitedClaims, now);
            laneDueTimes.markDue(limitedClaims, now);
            throw failure;
        }
    }

    private ClaimSummary execute(
            List<ClaimRequest.LaneClaim> laneClaims,
            Function<ClaimRequest, ClaimResult> claimFunction,
            boolean ahead,
            Instant now) {
        if (laneClaims.isEmpty()) return ClaimSummary.NONE;
        UUID owner = node.id();
        long claimNumber = node.activeAttempts().nextClaimNumber();
        List<ClaimRequest.LaneClaim> claimsWithHandlers =
                laneClaims.stream().map(this::withHandlers).toList();
        ClaimResult claimResult =
                claimFunction.apply(new ClaimRequest(owner, claimsWithHandlers, unknownHandlers, null, claimNumber));
        boolean exhausted = updateDueTimes(laneClaims, claimResult, now);
        dispatchOrPassOn(owner, claimResult.attempts(), claimNumber, ahead);
        node.activeAttempts()
                .recordClaimRecord(owner, claimNumber, claimResult.attempts().size());
        return new ClaimSummary(claimResult.attempts().size(), exhausted);
    }

    private record LanePriority(Lane lane, Priority priority) {}

    private boolean updateDueTimes(List<ClaimRequest.LaneClaim> laneClaims, ClaimResult claimResult, Instant now) {
        Map<LanePriority, Integer> claimedCounts = new HashMap<>();
        Map<LanePriority, Instant> lowest = new HashMap<>();
        Map<LanePriority, Instant> highest = new HashMap<>();
        for (int i = 0; i < claimResult.attempts().size(); i++) {
            Attempt attempt = claimResult.attempts().get(i);
            LanePriority lanePriority = new LanePriority(attempt.lane(), attempt.priority());
            claimedCounts.merge(lanePriority, 1, Integer::sum);
            seenHandlers.add(attempt.lane(), attempt.target().name());
            // Results are ordered: the first of each lane and priority has the lowest ready time, the last the highest.
            lowest.putIfAbsent(lanePriority, claimResult.readyAt().get(i));
            highest.put(lanePriority, claimResult.readyAt().get(i));
        }
        boolean exhausted = false;
        for (ClaimRequest.LaneClaim laneClaim : laneClaims) {
            LanePriority lanePriority = new LanePriority(laneClaim.lane(), laneClaim.priority());
            int count = claimedCounts.getOrDefault(lanePriority, 0);
            Instant limitedUntil = claimResult.limitedUntil().get(laneClaim.lane());
            if (limitedUntil != null) {
                laneDueTimes.recordLimitReached(laneClaim.lane(), laneClaim.priority(), limitedUntil);
                continue;
            }
            if (count >= laneClaim.count()) {
                laneDueTimes.recordFullClaim(
                        laneClaim.lane(), laneClaim.priority(), lowest.getOrDefault(lanePriority, now), now);
                backlogBroadcaster.reportBacklog(laneClaim.lane());
                continue;
            }
            exhausted = true;
            if (count == 0) laneDueTimes.recordEmptyClaim(laneClaim.lane(), laneClaim.priority(), now);
            else
                laneDueTimes.recordPartialClaim(
                        laneClaim.lane(), laneClaim.priority(), highest.getOrDefault(lanePriority, now), now);
        }
        return exhausted;
    }

    /** Adds attempts that this node can execute to the ready queue and releases the others. */
    private void dispatchOrPassOn(UUID owner, List<Attempt> attempts, long claimNumber, boolean ahead) {
        if (attempts.isEmpty()) return;
        List<Attempt> unknown = new ArrayList<>();
        List<ActiveAttempt> known = new ArrayList<>(attempts.size());
        for (Attempt attempt : attempts) {
            if (node.handlers().find(attempt).isPresent()) known.add(node.addActive(owner, attempt, claimNumber));
            else unknown.add(attempt);
        }
        node.dispatch(known, ahead);
        if (unknown.isEmpty()) return;
        Set<String> names =
                unknown.stream().map(attempt -> attempt.target().name()).collect(Collectors.toSet());
        log.warn("runs released; this node has no handler for them handlers={} runs={}", names, unknown.size());
        // Runs whose handler no node has are claimed until all of them are parked; runs of other nodes' handlers are
        // left to those nodes.
        unknownHandlers.addAll(runs.passOn(owner, unknown));
        unknown.forEach(
                attempt -> seenHandlers.remove(attempt.lane(), attempt.target().name()));
    }

    /**
     * The handlers seen with runs in each lane, so that a claim asks for these only. Polls bring back handlers that
     * were removed, so the memory can be bounded: when too many lanes were seen, all are removed, and each lane keeps a
     * limited number of handlers that this node does not have.
     */
    static final class SeenHandlers {
        static final int MAX_LANES = 100_000;

        /**
         * The number of handlers that this node does not have, per lane, whose runs are claimed in order to
         * pass them on.
         */
        static final int MAX_UNKNOWN = 50;

        private final Set<String> ownHandlers;
        private final Map<Lane, Set<String>> handlersByLane = new ConcurrentHashMap<>();

        /** {@code ownHandlers} are the handlers of this node. */
        SeenHandlers(Set<String> ownHandlers) {
            this.ownHandlers = ownHandlers;
        }

        void add(Lane lane, String handler) {
            Set<String> names = handlersByLane.get(lane);
            if (names == null) {
                if (handlersByLane.size() >= MAX_LANES) handlersByLane.clear();
                names = handlersByLane.computeIfAbsent(lane, l -> ConcurrentHashMap.newKeySet());
            }
            if (ownHandlers.contains(handler)
                    || names.stream()
                                    .filter(name -> !ownHandlers.contains(name))
                                    .count()
                            < MAX_UNKNOWN) names.add(handler);
        }

        /**
         * Removes a handler whose runs were passed on, so that other handlers can be added. A poll that finds more of
         * its runs adds it again.
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
    }

    /**
     * Executes isolated runs, that is, runs that may kill their node. It executes one group at a time while this node
     * executes nothing else, because only then the death of the node proves something. Isolation uses at most half of
     * this node's time, and the store allows one node of the cluster at a time.
     */
    final class Isolation {
        private final ClaimSizer claimSizer;
        private List<ActiveAttempt> group = List.of();
        private boolean groupStarted;
        private long startNanos;
        private long claimedAtNanos;
        private long pausedUntil = System.nanoTime();

        Isolation(ClaimSizer claimSizer) {
            this.claimSizer = claimSizer;
        }

        /** Returns for how long this node still executes ordinary runs only. */
        long pauseNanos() {
            return pausedUntil - System.nanoTime();
        }

        /**
         * Claims the next group. Returns false if there is none for this node now. {@code busy} says that this node has
         * ordinary runs.
         */
        boolean claim(boolean busy) {
            int maxRuns = freeSlots();
            if (maxRuns == 0) return false;
            UUID owner = node.id();
            long claimNumber = node.activeAttempts().nextClaimNumber();
            long asked = System.nanoTime();
            List<Attempt> claimed = runs.claimIsolated(new RunStore.IsolatedClaimRequest(
                    owner, node.handlers().names(), maxRuns, busy, claimNumber, null));
            if (claimed.isEmpty()) return false;
            group = claimed.stream()
                    .map(attempt -> node.addActive(owner, attempt, claimNumber))
                    .toList();
            node.activeAttempts().recordClaimRecord(owner, claimNumber, claimed.size());
            groupStarted = false;
            claimedAtNanos = asked;
            return true;
        }

        /**
         * Returns the slots that are free when a group starts: all except those of long runs, which may
         * continue for hours.
         */
        private int freeSlots() {
            long longRuns = node.activeAttempts().all().stream()
                    .filter(one -> one.isLongRunning() && one.isRunning() && !one.isAbandoned())
                    .count();
            return claimSizer.sizeBesideLongRuns((int) longRuns);
        }

        /**
         * Returns whether nothing else may be claimed. The group starts when all other attempts have ended or count as
         * harmless, and ends when the same is true of all its own runs.
         */
        boolean isActive(boolean claiming) {
            if (group.isEmpty()) return false;
            UUID owner = group.get(0).owner();
            if (!groupStarted && !(claiming && owner.equals(node.id())))
                node.activeAttempts().handBack(runs, owner, group);
            group = group.stream().filter(this::isNotYetHarmless).toList();
            if (!groupStarted && !group.isEmpty() && allClaimsAnswered() && areOthersHarmless()) start(owner);
            if (groupStarted) handBackUnstarted();
            if (!group.isEmpty()) return true;
            long now = System.nanoTime();
            pausedUntil = now + (now - claimedAtNanos);
            claimSizer.reserveSlotsForOthers(true);
            return false;
        }

        private boolean areOthersHarmless() {
            return node.activeAttempts().all().stream()
                    .allMatch(one -> one.isLongRunning() || one.isFinished() || group.contains(one));
        }

        /**
         * Starts the group. Other attempts may have become long-running since the claim, so runs without a free slot
         * are handed back.
         */
        private void start(UUID owner) {
            int free = freeSlots();
            if (free < group.size()) {
                node.activeAttempts().handBack(runs, owner, group.subList(free, group.size()));
                group = List.copyOf(group.subList(0, free));
            }
            groupStarted = true;
            startNanos = System.nanoTime();
            claimSizer.reserveSlotsForOthers(false);
            node.dispatch(group, false);
        }

        /**
         * Hands back queued runs that cannot start, for example because long runs hold all transactions. They wait no
         * longer than a run needs to count as harmless.
         */
        private void handBackUnstarted() {
            if (group.stream().anyMatch(ActiveAttempt::isStarted)) return;
            Duration waited = Duration.ofNanos(System.nanoTime() - startNanos);
            if (group.stream().anyMatch(one -> waited.compareTo(harmlessAfter(one)) > 0)) claimSizer.handBackQueued();
        }

        private static Duration harmlessAfter(ActiveAttempt activeAttempt) {
            return IsolationRule.harmlessAfter(
                    activeAttempt.attemptValue().counts().nodeDeaths());
        }

        private boolean isNotYetHarmless(ActiveAttempt activeAttempt) {
            return node.activeAttempts()
                            .find(activeAttempt.id())
                            .filter(activeAttempt::equals)
                            .isPresent()
                    && activeAttempt.sinceStart().compareTo(harmlessAfter(activeAttempt)) < 0;
        }
    }
}
