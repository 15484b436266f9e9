package io.carillon.internal.engine.claim;

import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.engine.node.Node;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.ClaimResult;
import io.carillon.internal.store.run.LaneDue;
import io.carillon.internal.store.run.LaneStore;
import io.carillon.internal.store.run.RunStore;
import io.carillon.run.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
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
    private final LaneHandlers laneHandlers;
    private final Consumer<Lane> onBacklog;
    private final Consumer<Lane> onPassedOn;
    private final @Nullable Duration lease;

    private volatile Set<Lane> limitedLanes = Set.of();
    private volatile boolean largeClaimActive;
    private boolean besideClaimActive;

    /**
     * {@code onBacklog} receives each lane that has more runs than a claim asked for, {@code onPassedOn} each lane with
     * runs that this node claimed and that another node can execute. {@code lease} is how long each run is leased by a
     * caller without a heartbeat; null if the heartbeat of the node keeps the leases.
     */
    public ClaimExecutor(
            Storage storage,
            LaneDueTimes laneDueTimes,
            Node node,
            Consumer<Lane> onBacklog,
            Consumer<Lane> onPassedOn,
            @Nullable Duration lease) {
        this.runs = storage.runs();
        this.lanes = storage.lanes();
        this.laneDueTimes = laneDueTimes;
        this.node = node;
        this.laneHandlers = new LaneHandlers(node.handlers().names());
        this.onBacklog = onBacklog;
        this.onPassedOn = onPassedOn;
        this.lease = lease;
    }

    /** The number of runs that a claim got, and whether a lane had fewer runs than the claim asked for. */
    public record ClaimSummary(int claimedCount, boolean exhausted) {
        private static final ClaimSummary NONE = new ClaimSummary(0, false);

        private ClaimSummary plus(ClaimSummary other) {
            return new ClaimSummary(claimedCount + other.claimedCount, exhausted || other.exhausted);
        }
    }

    /** Sets the lanes for which a poll read limits. */
    public void limited(Set<Lane> newLimitedLanes) {
        limitedLanes = newLimitedLanes;
    }

    public boolean limited(Lane lane) {
        return limitedLanes.contains(lane);
    }

    /** Records what a poll or a scan found, and returns the runs that this node can claim. */
    public List<LaneDue> filterKnownHandlers(List<LaneDue> due) {
        return laneHandlers.filterKnown(due);
    }

    /** Forgets the unknown handlers, because the nodes that have them may have stopped. */
    void forgetUnknownHandlers() {
        laneHandlers.forgetUnknown();
    }

    /**
     * Executes a claim. Only the claimer calls this, or a caller without a node. If {@code ahead}, the runs start
     * before waiting runs of other lanes.
     */
    public ClaimSummary claim(List<ClaimRequest.LaneClaim> laneClaims, boolean ahead, Instant now) {
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
                laneClaims.stream().map(laneHandlers::withHandlers).toList();
        ClaimResult claimResult = claimFunction.apply(
                new ClaimRequest(owner, claimsWithHandlers, laneHandlers.unknown(), lease, claimNumber));
        // A caller without a node polls before each claim, and an empty claim must not make it ignore the lane.
        boolean exhausted = lease == null && updateDueTimes(laneClaims, claimResult, now);
        dispatchOrPassOn(owner, claimResult.attempts(), claimNumber, ahead);
        if (lease == null)
            node.activeAttempts()
                    .recordClaimRecord(
                            owner, claimNumber, claimResult.attempts().size());
        return new ClaimSummary(claimResult.attempts().size(), exhausted);
    }

    private record LanePriority(Lane lane, Priority priority) {
        static LanePriority of(Attempt attempt) {
            return new LanePriority(attempt.lane(), attempt.priority());
        }

        boolean includes(Attempt attempt) {
            return priority == attempt.priority() && lane.equals(attempt.lane());
        }
    }

    /** The claimed runs of a priority of a lane: their number, and the first and the last ready time. */
    private record ClaimedRuns(int count, Instant lowest, Instant highest) {
        static final ClaimedRuns NONE = new ClaimedRuns(0, Instant.MAX, Instant.MIN);
    }

    /**
     * Counts the claimed runs. The results are in the order of their ready times. Neighbours usually belong to the same
     * lane and are counted together, because looking up a lane costs more than comparing it.
     */
    private Map<LanePriority, ClaimedRuns> claimedByLane(ClaimResult claimResult) {
        Map<LanePriority, ClaimedRuns> claimed = new HashMap<>();
        List<Attempt> attempts = claimResult.attempts();
        for (int from = 0, to = 0; from < attempts.size(); from = to) {
            LanePriority lanePriority = LanePriority.of(attempts.get(from));
            String handler = attempts.get(from).target().name();
            while (to < attempts.size()
                    && lanePriority.includes(attempts.get(to))
                    && handler.equals(attempts.get(to).target().name())) to++;
            laneHandlers.add(lanePriority.lane(), handler);
            ClaimedRuns before = claimed.get(lanePriority);
            claimed.put(
                    lanePriority,
                    new ClaimedRuns(
                            to - from + (before == null ? 0 : before.count),
                            before == null ? claimResult.readyAt().get(from) : before.lowest,
                            claimResult.readyAt().get(to - 1)));
        }
        return claimed;
    }

    private boolean updateDueTimes(List<ClaimRequest.LaneClaim> laneClaims, ClaimResult claimResult, Instant now) {
        Map<LanePriority, ClaimedRuns> claimedByLane = claimedByLane(claimResult);
        boolean exhausted = false;
        for (ClaimRequest.LaneClaim laneClaim : laneClaims) {
            LanePriority lanePriority = new LanePriority(laneClaim.lane(), laneClaim.priority());
            ClaimedRuns claimed = claimedByLane.getOrDefault(lanePriority, ClaimedRuns.NONE);
            Instant limitedUntil = claimResult.limitedUntil().get(laneClaim.lane());
            if (limitedUntil != null) {
                laneDueTimes.recordLimitReached(laneClaim.lane(), laneClaim.priority(), limitedUntil);
                continue;
            }
            if (claimed.count >= laneClaim.count()) {
                laneDueTimes.recordFullClaim(laneClaim.lane(), laneClaim.priority(), claimed.lowest, now);
                onBacklog.accept(laneClaim.lane());
                continue;
            }
            exhausted = true;
            if (claimed.count == 0) laneDueTimes.recordEmptyClaim(laneClaim.lane(), laneClaim.priority(), now);
            else laneDueTimes.recordPartialClaim(laneClaim.lane(), laneClaim.priority(), claimed.highest, now);
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
        Set<String> ofOthers = runs.passOn(owner, unknown);
        laneHandlers.addUnknown(ofOthers);
        // The other nodes read past these runs while this node held them.
        unknown.stream()
                .filter(attempt -> ofOthers.contains(attempt.target().name()))
                .map(Attempt::lane)
                .distinct()
                .forEach(onPassedOn);
        unknown.forEach(
                attempt -> laneHandlers.remove(attempt.lane(), attempt.target().name()));
    }
}
