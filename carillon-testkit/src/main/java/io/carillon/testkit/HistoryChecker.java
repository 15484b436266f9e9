package io.carillon.testkit;

import io.carillon.testkit.Violation.Invariant;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Checks a {@link History} against the invariants that always hold, against its expectations and, if there is a final
 * state, against what must have ended by then. Each {@link Violation} names the broken {@link Invariant}. The checker
 * does not depend on the code that produced the history.
 */
public final class HistoryChecker {
    private static final Duration MAX_HEARTBEAT_AGE = Duration.ofSeconds(10);
    private static final int MAX_EXTRA_SESSIONS = 2;

    private final History history;
    private final Map<String, List<HistoryEvent>> runs = new LinkedHashMap<>();
    private final List<Violation> violations = new ArrayList<>();

    private HistoryChecker(History history) {
        this.history = history;
        List<HistoryEvent> ordered = new ArrayList<>(history.events());
        ordered.sort(Comparator.comparing(HistoryEvent::at)
                .thenComparing(HistoryEvent::attempt)
                .thenComparing(HistoryEvent::kind));
        for (HistoryEvent event : ordered)
            runs.computeIfAbsent(event.run(), run -> new ArrayList<>()).add(event);
    }

    /** Returns all violations; empty if there are none. */
    public static List<Violation> check(History history) {
        HistoryChecker checker = new HistoryChecker(history);
        checker.check();
        return List.copyOf(checker.violations);
    }

    /** Returns the maximum number of these runs that were leased at the same time. */
    public static int maxConcurrent(History history, Set<String> which) {
        return new HistoryChecker(history).maxConcurrent(which);
    }

    private void check() {
        boolean startsKnown = history.events().stream().anyMatch(event -> event.kind() == HistoryEvent.Kind.STARTED);
        runs.values().forEach(events -> new RunHistoryChecker(history, startsKnown, violations).check(events));
        history.expectations().limits().forEach(this::checkLimit);
        history.expectations().orders().forEach(this::checkOrder);
        checkUniqueKeys();
        history.expectations().failover().ifPresent(this::checkFailover);
        history.finalState().ifPresent(finalState -> {
            checkAllEnded(finalState);
            checkNodes(finalState);
        });
    }

    private void checkLimit(History.Limit limit) {
        int most = maxConcurrent(limit.runs());
        if (most > limit.limit())
            addViolation(
                    Invariant.LIMIT,
                    "%d runs were leased at the same time instead of at most %d".formatted(most, limit.limit()));
    }

    private int maxConcurrent(Set<String> which) {
        TreeMap<Instant, Integer> steps = new TreeMap<>();
        leases().filter(lease -> which.contains(lease.run)).forEach(lease -> {
            steps.merge(lease.from, 1, Integer::sum);
            steps.merge(lease.to, -1, Integer::sum);
        });
        int live = 0;
        int most = 0;
        for (int step : steps.values()) {
            live += step;
            most = Math.max(most, live);
        }
        return most;
    }

    private void checkOrder(List<String> inOrder) {
        for (int i = 1; i < inOrder.size(); i++) {
            Instant ended = first(inOrder.get(i - 1), HistoryEvent.Kind.ENDED);
            Instant leased = first(inOrder.get(i), HistoryEvent.Kind.LEASED);
            if (leased.isBefore(ended))
                addViolation(Invariant.ORDER, inOrder.get(i) + " was leased before the end of " + inOrder.get(i - 1));
        }
    }

    private void checkUniqueKeys() {
        Map<String, HistoryEvent> last = new LinkedHashMap<>();
        history.events().stream()
                .filter(event -> event.kind() == HistoryEvent.Kind.CREATED
                        && !event.detail().isEmpty())
                .sorted(Comparator.comparing(HistoryEvent::at))
                .forEach(created -> {
                    HistoryEvent before = last.put(created.detail(), created);
                    if (before != null && created.at().isBefore(first(before.run(), HistoryEvent.Kind.ENDED)))
                        addViolation(
                                Invariant.UNIQUE_KEY,
                                "%s and %s existed at the same time with the unique key '%s'"
                                        .formatted(before.run(), created.run(), created.detail()));
                });
    }

    private Instant first(String run, HistoryEvent.Kind kind) {
        return runs.getOrDefault(run, List.of()).stream()
                .filter(event -> event.kind() == kind)
                .map(HistoryEvent::at)
                .findFirst()
                .orElse(Instant.MAX);
    }

    private void checkFailover(History.FailoverTimes failover) {
        for (History.NodeLoss nodeLoss : history.losses()) {
            leases().filter(lease -> lease.heldBy(nodeLoss)).forEach(lease -> {
                Instant next = nextLease(lease.run, nodeLoss.at());
                if (next != null && next.isAfter(nodeLoss.at().plus(failover.rescueWithin())))
                    addViolation(
                            Invariant.FAILOVER_IN_TIME,
                            "%s was leased again at %s, too late after %s".formatted(lease.run, next, nodeLoss));
            });
            failover.startWithin()
                    .ifPresent(within -> history.events().stream()
                            .filter(event -> event.kind() == HistoryEvent.Kind.LEASED
                                    && !event.node().equals(nodeLoss.node())
                                    && !event.at().isBefore(nodeLoss.at()))
                            .map(HistoryEvent::at)
                            .min(Instant::compareTo)
                            .filter(at -> at.isAfter(nodeLoss.at().plus(within)))
                            .ifPresent(at -> addViolation(
                                    Invariant.FAILOVER_IN_TIME,
                                    "no run started before %s, too late after %s".formatted(at, nodeLoss))));
        }
    }

    private @Nullable Instant nextLease(String run, Instant after) {
        return runs.getOrDefault(run, List.of()).stream()
                .filter(event ->
                        event.kind() == HistoryEvent.Kind.LEASED && event.at().isAfter(after))
                .map(HistoryEvent::at)
                .findFirst()
                .orElse(null);
    }

    private void checkAllEnded(History.FinalState finalState) {
        Set<String> lost = history.losses().stream().map(History.NodeLoss::node).collect(Collectors.toSet());
        runs.forEach((run, events) -> {
            if (events.stream().anyMatch(event -> event.kind() == HistoryEvent.Kind.ENDED)) return;
            HistoryEvent last = null;
            for (HistoryEvent event : events) if (event.kind() != HistoryEvent.Kind.STARTED) last = event;
            if (last != null && last.kind() == HistoryEvent.Kind.LEASED && lost.contains(last.node()))
                addViolation(Invariant.NO_LEASE_OF_LOST_NODE, run + " is still leased to " + last.node());
            else if (!finalState.allowedToWait().contains(run))
                addViolation(Invariant.ALL_ENDED, run + " has not ended");
        });
    }

    private void checkNodes(History.FinalState finalState) {
        finalState.lastHeartbeats().forEach((node, heartbeat) -> {
            if (heartbeat.plus(MAX_HEARTBEAT_AGE).isBefore(finalState.at()))
                addViolation(Invariant.NODES_HEALTHY, node + " has sent no heartbeat since " + heartbeat);
        });
        if (finalState.listeningNodes() != finalState.lastHeartbeats().size())
            addViolation(
                    Invariant.NODES_HEALTHY,
                    "%d of %d nodes receive notifications"
                            .formatted(
                                    finalState.listeningNodes(),
                                    finalState.lastHeartbeats().size()));
        if (finalState.extraSessions() > MAX_EXTRA_SESSIONS)
            addViolation(Invariant.NODES_HEALTHY, finalState.extraSessions() + " more sessions than at the start");
    }

    private record Lease(String run, String node, Instant from, Instant to) {
        boolean heldBy(History.NodeLoss nodeLoss) {
            return node.equals(nodeLoss.node()) && !from.isAfter(nodeLoss.at()) && to.isAfter(nodeLoss.at());
        }
    }

    private Stream<Lease> leases() {
        return runs.entrySet().stream().flatMap(run -> leases(run.getKey(), run.getValue()).stream());
    }

    private static List<Lease> leases(String run, List<HistoryEvent> events) {
        List<Lease> leases = new ArrayList<>();
        HistoryEvent open = null;
        for (HistoryEvent event : events) {
            boolean leased = event.kind() == HistoryEvent.Kind.LEASED;
            boolean over = event.kind() == HistoryEvent.Kind.RELEASED || event.kind() == HistoryEvent.Kind.ENDED;
            if (open != null && (leased || over)) leases.add(new Lease(run, open.node(), open.at(), event.at()));
            if (leased) open = event;
            if (over) open = null;
        }
        if (open != null) leases.add(new Lease(run, open.node(), open.at(), Instant.MAX));
        return leases;
    }

    private void addViolation(Invariant invariant, String text) {
        violations.add(new Violation(invariant, text));
    }
}
