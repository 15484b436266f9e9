package io.carillon.internal.engine.claim;

import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.engine.node.Node;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.store.run.IsolationRule;
import io.carillon.internal.store.run.RunStore;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;

/**
 * Executes isolated runs, that is, runs that may kill their node. It executes one group at a time while this node
 * executes nothing else, because only then the death of the node proves something. Isolation uses at most half of
 * this node's time, and the store allows one node of the cluster at a time.
 */
final class IsolatedGroups {
    private final RunStore runs;
    private final Node node;
    private final ClaimPacing claimPacing;
    private final BooleanSupplier allClaimsAnswered;
    private List<ActiveAttempt> group = List.of();
    private boolean groupStarted;
    private long startNanos;
    private long claimedAtNanos;
    private long pausedUntil = System.nanoTime();

    /** {@code allClaimsAnswered} says whether the node waits for no claim. */
    IsolatedGroups(RunStore runs, Node node, ClaimPacing claimPacing, BooleanSupplier allClaimsAnswered) {
        this.runs = runs;
        this.node = node;
        this.claimPacing = claimPacing;
        this.allClaimsAnswered = allClaimsAnswered;
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
        List<Attempt> claimed = runs.claimIsolated(
                new RunStore.IsolatedClaimRequest(owner, node.handlers().names(), maxRuns, busy, claimNumber, null));
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
        return claimPacing.sizeBesideLongRuns((int) longRuns);
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
        if (!groupStarted && !group.isEmpty() && allClaimsAnswered.getAsBoolean() && areOthersHarmless()) start(owner);
        if (groupStarted) handBackUnstarted();
        if (!group.isEmpty()) return true;
        long now = System.nanoTime();
        pausedUntil = now + (now - claimedAtNanos);
        claimPacing.reserveSlotsForOthers(true);
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
        claimPacing.reserveSlotsForOthers(false);
        node.dispatch(group, false);
    }

    /**
     * Hands back queued runs that cannot start, for example because long runs hold all transactions. They wait no
     * longer than a run needs to count as harmless.
     */
    private void handBackUnstarted() {
        if (group.stream().anyMatch(ActiveAttempt::isStarted)) return;
        Duration waited = Duration.ofNanos(System.nanoTime() - startNanos);
        if (group.stream().anyMatch(one -> waited.compareTo(harmlessAfter(one)) > 0)) claimPacing.handBackQueued();
    }

    private static Duration harmlessAfter(ActiveAttempt activeAttempt) {
        return IsolationRule.harmlessAfter(activeAttempt.attemptValue().counts().nodeDeaths());
    }

    private boolean isNotYetHarmless(ActiveAttempt activeAttempt) {
        return node.activeAttempts()
                        .find(activeAttempt.id())
                        .filter(activeAttempt::equals)
                        .isPresent()
                && activeAttempt.sinceStart().compareTo(harmlessAfter(activeAttempt)) < 0;
    }
}
