package io.carillon;

import static java.util.Objects.requireNonNull;

import io.carillon.internal.value.VirtualThreads;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The settings of the node of a process. Immutable; each method returns a changed copy. */
public final class NodeConfig {
    private static final Duration MIN_INTERVAL = Duration.ofMillis(1);
    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration CENTURY = Duration.ofDays(36_500);
    private static final Duration MIN_LOOK_AHEAD = Duration.ofSeconds(20);
    private static final Duration MAX_LOOK_AHEAD = Duration.ofHours(1);

    /**
     * The nodes that plan. In both modes, the compare-and-set on the schedule's cursor decides which write succeeds.
     */
    public enum Planning {
        /** Every node plans, every 10 s. */
        EVERY_NODE,
        /**
         * Only the holder of the planning token plans, every second. If it dies, another node takes over within 5 s.
         */
        LEADER
    }

    /** The nodes that claim runs. In both modes, one node executes an attempt. */
    public enum Claiming {
        /** Every node claims runs, as many as it can execute soon. */
        EVERY_NODE,
        /**
         * Only the holder of the claim token claims runs; the others stand by. If it dies, another node takes over
         * within the times that {@link NodeConfig#leaderTimes} sets. A leader that was paused, and does not know that
         * it was replaced, does no harm: a run is claimed once, and the ends of attempts have a fence.
         */
        LEADER
    }

    private record Leadership(Planning planning, Claiming claiming, Duration lease, Duration checkInterval) {}

    private record Slots(int concurrency, int transactionalConcurrency, int maxClaimSize) {}

    private record Heartbeat(Duration heartbeatInterval, Duration deadAfter) {}

    private record Timing(Duration pollInterval, Duration planInterval, Duration lookAhead, Duration shutdownTimeout) {}

    private record Retention(Duration historyRetention, Duration deadRunRetention, Duration eventRetention) {}

    private final Slots slots;
    private final Heartbeat heartbeat;
    private final Timing timing;
    private final Retention retention;
    private final Leadership leadership;
    private final Wakeup wakeup;

    private NodeConfig(
            Slots slots,
            Heartbeat heartbeat,
            Timing timing,
            Retention retention,
            Leadership leadership,
            Wakeup wakeup) {
        this.slots = slots;
        this.heartbeat = heartbeat;
        this.timing = timing;
        this.retention = retention;
        this.leadership = leadership;
        this.wakeup = wakeup;
    }

    public static NodeConfig defaults() {
        return new NodeConfig(
                new Slots(VirtualThreads.exist() ? 256 : 50, 16, 2_000),
                new Heartbeat(Duration.ofSeconds(2), Duration.ofSeconds(10)),
                new Timing(
                        Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ofMinutes(2), Duration.ofSeconds(30)),
                new Retention(Duration.ofDays(14), Duration.ofDays(30), Duration.ofDays(30)),
                new Leadership(Planning.EVERY_NODE, Claiming.EVERY_NODE, Duration.ofSeconds(3), Duration.ofSeconds(1)),
                Wakeup.notifying());
    }

    /**
     * Sets how many runs the node executes at the same time, between 1 and 100,000. Default: 50, or 256 if the JDK has
     * virtual threads.
     */
    public NodeConfig concurrency(int runs) {
        check(runs >= 1 && runs <= 100_000, "concurrency must be between 1 and 100000 (was %d).".formatted(runs));
        return with(new Slots(runs, slots.transactionalConcurrency(), slots.maxClaimSize()));
    }

    /**
     * Sets how many runs of transactional handlers the node executes at the same time. Default: 16. The node uses fewer
     * if its connection pool is too small, and at least 1.
     */
    public NodeConfig transactionalConcurrency(int runs) {
        check(runs >= 0, "transactionalConcurrency must not be negative (was %d).".formatted(runs));
        return with(new Slots(slots.concurrency(), runs, slots.maxClaimSize()));
    }

    /** Sets how many runs the node claims at once at most, between 1 and 10,000. Default: 2,000. */
    public NodeConfig maxClaimSize(int runs) {
        check(runs >= 1 && runs <= 10_000, "maxClaimSize must be between 1 and 10000 (was %d).".formatted(runs));
        return with(new Slots(slots.concurrency(), slots.transactionalConcurrency(), runs));
    }

    /**
     * Sets the heartbeats of the node. Use the same settings for all nodes of a cluster.
     *
     * @param every the interval of heartbeats; must fit three times into {@code deadAfter}. Default: 2 seconds
     * @param deadAfter the time without a heartbeat after which another node is declared dead, at most 1 day. Default:
     *     10 seconds
     */
    public NodeConfig heartbeat(Duration every, Duration deadAfter) {
        check(deadAfter.compareTo(DAY) <= 0, "deadAfter must be at most 1 day (was %s).".formatted(deadAfter));
        check(
                every.compareTo(Duration.ZERO) > 0 && every.compareTo(deadAfter.dividedBy(3)) <= 0,
                "The heartbeat interval must be positive and fit three times into deadAfter (was %s, deadAfter %s)."
                        .formatted(every, deadAfter));
        return new NodeConfig(slots, new Heartbeat(every, deadAfter), timing, retention, leadership, wakeup);
    }

    /**
     * Sets how often the node polls in the wake-up modes notify and hybrid, between 1 ms and 1 day. Default: 1 second.
     * This is also the longest delay after a lost wake-up. The other modes poll as {@link Wakeup#pollMin} and
     * {@link Wakeup#pollMax} say.
     */
    public NodeConfig pollInterval(Duration interval) {
        checkInterval("pollInterval", interval);
        return with(new Timing(interval, timing.planInterval(), timing.lookAhead(), timing.shutdownTimeout()));
    }

    /**
     * Sets how often the node plans, between 1 ms and 1 day. Default: 10 seconds. Has no effect with
     * {@link Planning#LEADER}.
     */
    public NodeConfig planInterval(Duration interval) {
        checkInterval("planInterval", interval);
        return with(new Timing(timing.pollInterval(), interval, timing.lookAhead(), timing.shutdownTimeout()));
    }

    /**
     * Sets how far ahead ticks are stored, between 20 seconds and 1 hour. Default: 2 minutes. A longer look-ahead
     * bridges longer interruptions of planning but stores more ticks.
     */
    public NodeConfig lookAhead(Duration ahead) {
        // Nodes plan every 10 seconds, so a shorter look-ahead would create ticks after they are due.
        check(
                between(ahead, MIN_LOOK_AHEAD, MAX_LOOK_AHEAD),
                "lookAhead must be between 20 s and 1 h (was %s).".formatted(ahead));
        return with(new Timing(timing.pollInterval(), timing.planInterval(), ahead, timing.shutdownTimeout()));
    }

    /**
     * Sets how long {@link Carillon#close()} waits for running attempts before it releases their runs, at most 1 day.
     * Default: 30 seconds.
     */
    public NodeConfig shutdownTimeout(Duration timeout) {
        check(
                between(timeout, Duration.ZERO, DAY),
                "shutdownTimeout must be between 0 and 1 day (was %s).".formatted(timeout));
        return with(new Timing(timing.pollInterval(), timing.planInterval(), timing.lookAhead(), timeout));
    }

    /**
     * Sets how long ended runs and the ledger of instants are kept, between 1 day and 100 years. Default: 14 days. If
     * live nodes have different settings, the shortest takes effect.
     */
    public NodeConfig historyRetention(Duration time) {
        checkRetention("historyRetention", time);
        return with(new Retention(time, retention.deadRunRetention(), retention.eventRetention()));
    }

    /**
     * Sets how long dead and quarantined runs are kept, between 1 day and 100 years. Default: 30 days. If live nodes
     * have different settings, the shortest takes effect.
     */
    public NodeConfig deadRunRetention(Duration time) {
        checkRetention("deadRunRetention", time);
        return with(new Retention(retention.historyRetention(), time, retention.eventRetention()));
    }

    /**
     * Sets how long events are kept, between 1 day and 100 years. Default: 30 days. Events that a subscription has
     * still to deliver are kept for at most twice this time. If live nodes have different settings, the shortest
     * takes effect.
     */
    public NodeConfig eventRetention(Duration time) {
        checkRetention("eventRetention", time);
        return with(new Retention(retention.historyRetention(), retention.deadRunRetention(), time));
    }

    /** Sets whether every node plans (the default) or one node plans for the cluster. */
    public NodeConfig planning(Planning planning) {
        return with(new Leadership(
                requireNonNull(planning, "planning"),
                leadership.claiming(),
                leadership.lease(),
                leadership.checkInterval()));
    }

    /**
     * Sets whether every node claims runs (the default) or one node executes for the cluster. Use the same setting for
     * all nodes: a node that is set to {@link Claiming#EVERY_NODE} claims beside the leader.
     */
    public NodeConfig claiming(Claiming claiming) {
        return with(new Leadership(
                leadership.planning(),
                requireNonNull(claiming, "claiming"),
                leadership.lease(),
                leadership.checkInterval()));
    }

    /**
     * Sets the times of leaders. A leader that died is replaced within both of them together.
     *
     * @param lease how long a leader keeps its token after the last renewal, between 1 second and 1 hour. Default: 3
     *     seconds
     * @param checkInterval how often a leader renews its token, and other nodes try to take it over; at least 100 ms
     *     and at most half the lease. Default: 1 second
     */
    public NodeConfig leaderTimes(Duration lease, Duration checkInterval) {
        check(
                between(lease, Duration.ofSeconds(1), Duration.ofHours(1)),
                "The lease of a leader must be between 1 s and 1 h (was %s).".formatted(lease));
        check(
                between(checkInterval, Duration.ofMillis(100), lease.dividedBy(2)),
                "The check interval of leaders must be between 100 ms and half the lease (was %s, lease %s)."
                        .formatted(checkInterval, lease));
        return with(new Leadership(leadership.planning(), leadership.claiming(), lease, checkInterval));
    }

    /** Sets how the process is woken when runs become due. Default: LISTEN and NOTIFY. */
    public NodeConfig wakeup(Wakeup wakeup) {
        return new NodeConfig(slots, heartbeat, timing, retention, leadership, requireNonNull(wakeup, "wakeup"));
    }

    public int concurrency() {
        return slots.concurrency();
    }

    public int transactionalConcurrency() {
        return slots.transactionalConcurrency();
    }

    public int maxClaimSize() {
        return slots.maxClaimSize();
    }

    /** Returns the interval of heartbeats. */
    public Duration heartbeatInterval() {
        return heartbeat.heartbeatInterval();
    }

    /** Returns the time without a heartbeat after which another node is declared dead. */
    public Duration deadAfter() {
        return heartbeat.deadAfter();
    }

    public Duration pollInterval() {
        return timing.pollInterval();
    }

    public Duration planInterval() {
        return timing.planInterval();
    }

    public Duration lookAhead() {
        return timing.lookAhead();
    }

    public Duration shutdownTimeout() {
        return timing.shutdownTimeout();
    }

    public Duration historyRetention() {
        return retention.historyRetention();
    }

    public Duration deadRunRetention() {
        return retention.deadRunRetention();
    }

    /** Returns how long events are kept. */
    public Duration eventRetention() {
        return retention.eventRetention();
    }

    public Planning planning() {
        return leadership.planning();
    }

    public Claiming claiming() {
        return leadership.claiming();
    }

    /** Returns how long a leader keeps its token after the last renewal. */
    public Duration leaderLease() {
        return leadership.lease();
    }

    /** Returns how often a leader renews its token, and other nodes try to take it over. */
    public Duration leaderCheckInterval() {
        return leadership.checkInterval();
    }

    public Wakeup wakeup() {
        return wakeup;
    }

    private NodeConfig with(Slots changed) {
        return new NodeConfig(changed, heartbeat, timing, retention, leadership, wakeup);
    }

    private NodeConfig with(Timing changed) {
        return new NodeConfig(slots, heartbeat, changed, retention, leadership, wakeup);
    }

    private NodeConfig with(Leadership changed) {
        return new NodeConfig(slots, heartbeat, timing, retention, changed, wakeup);
    }

    private NodeConfig with(Retention changed) {
        return new NodeConfig(slots, heartbeat, timing, changed, leadership, wakeup);
    }

    private static void checkInterval(String name, Duration value) {
        check(between(value, MIN_INTERVAL, DAY), "%s must be between 1 ms and 1 day (was %s).".formatted(name, value));
    }

    private static void checkRetention(String name, Duration value) {
        check(between(value, DAY, CENTURY), "%s must be between 1 day and 100 years (was %s).".formatted(name, value));
    }

    private static boolean between(Duration value, Duration min, Duration max) {
        return value.compareTo(min) >= 0 && value.compareTo(max) <= 0;
    }

    private static void check(boolean valid, String message) {
        if (!valid) throw new CarillonException(ErrorCode.INVALID_OPTION, message);
    }

    private List<Object> values() {
        return List.of(slots, heartbeat, timing, retention, leadership, wakeup);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof NodeConfig that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "NodeConfig[%s, %s, %s, %s, %s, wakeup=%s]"
                .formatted(slots, heartbeat, timing, retention, leadership, wakeup);
    }
}
