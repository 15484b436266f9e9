package io.carillon.testkit;

import io.carillon.run.Retry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What happened to runs and nodes, and what is expected of them. Immutable; each method returns an extended copy.
 * {@link HistoryRecorder} records the events, {@link HistoryChecker} checks them.
 */
public record History(
        List<HistoryEvent> events, List<NodeLoss> losses, Expectations expectations, Optional<FinalState> finalState) {
    /** A node that was killed, frozen or disconnected, and when. The time must not be before the event. */
    public record NodeLoss(String node, Instant at) {}

    /** The maximum number of these runs that may be leased at the same time. */
    public record Limit(Set<String> runs, int limit) {}

    /** How failed runs are retried, and how late a retry may be. */
    public record RetryExpectation(Retry retry, Duration tolerance) {}

    /**
     * How soon the runs of a lost node are leased again, and how soon other nodes start new runs while runs
     * are always due.
     */
    public record FailoverTimes(Duration rescueWithin, Optional<Duration> startWithin) {}

    /** The expectations on a history, in addition to the invariants that always hold. */
    public record Expectations(
            List<Limit> limits,
            List<List<String>> orders,
            Optional<RetryExpectation> retries,
            Optional<FailoverTimes> failover) {}

    /**
     * The state after all faults have ended.
     *
     * @param lastHeartbeats the time of the last heartbeat of each live node
     * @param extraSessions how many more database sessions exist than at the start
     * @param allowedToWait the runs that need not have ended
     */
    public record FinalState(
            Instant at,
            Map<String, Instant> lastHeartbeats,
            int listeningNodes,
            int extraSessions,
            Set<String> allowedToWait) {}

    public History {
        events = List.copyOf(events);
        losses = List.copyOf(losses);
    }

    /** Returns a history of these events, in any order, without node losses and expectations. */
    public static History of(List<HistoryEvent> events) {
        Expectations none = new Expectations(List.of(), List.of(), Optional.empty(), Optional.empty());
        return new History(events, List.of(), none, Optional.empty());
    }

    /** Adds the loss of a node. */
    public History nodeLost(String node, Instant at) {
        return new History(events, plus(losses, new NodeLoss(node, at)), expectations, finalState);
    }

    /** Expects that at most {@code limit} of these runs are leased at the same time. */
    public History expectLimit(Set<String> runs, int limit) {
        return with(new Expectations(
                plus(expectations.limits, new Limit(runs, limit)),
                expectations.orders,
                expectations.retries,
                expectations.failover));
    }

    /** Expects that each of these runs is leased after the previous one has ended. */
    public History expectOrder(List<String> runs) {
        return with(new Expectations(
                expectations.limits, plus(expectations.orders, runs), expectations.retries, expectations.failover));
    }

    /** Expects that failed runs are retried by this rule. Requires real time on the database clock. */
    public History expectRetries(Retry retry, Duration tolerance) {
        return with(new Expectations(
                expectations.limits,
                expectations.orders,
                Optional.of(new RetryExpectation(retry, tolerance)),
                expectations.failover));
    }

    /** Expects that the runs of a lost node are leased again within this time. */
    public History expectRescueWithin(Duration within) {
        return expectFailover(new FailoverTimes(within, Optional.empty()));
    }

    /** Expects these failover times. */
    public History expectFailover(FailoverTimes failover) {
        return with(new Expectations(
                expectations.limits, expectations.orders, expectations.retries, Optional.of(failover)));
    }

    /** Sets the state after all faults have ended. */
    public History finalState(FinalState state) {
        return new History(events, losses, expectations, Optional.of(state));
    }

    private History with(Expectations changed) {
        return new History(events, losses, changed, finalState);
    }

    private static <T> List<T> plus(List<T> all, T more) {
        List<T> longer = new ArrayList<>(all);
        longer.add(more);
        return List.copyOf(longer);
    }
}
