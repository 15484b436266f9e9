package io.carillon.testkit;

import static io.carillon.testkit.Violation.Invariant.NO_DUPLICATE_START;
import static io.carillon.testkit.Violation.Invariant.RETRY;
import static io.carillon.testkit.Violation.Invariant.SINGLE_END;
import static io.carillon.testkit.Violation.Invariant.SINGLE_LEASE;
import static io.carillon.testkit.Violation.Invariant.START_UNDER_LEASE;

import io.carillon.run.Retry;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks the events of one run. */
final class RunHistoryChecker {
    /** The engine measures retry delays in milliseconds. */
    private static final Duration ROUNDING = Duration.ofMillis(5);

    private final History history;
    private final boolean startsKnown;
    private final List<Violation> violations;
    private final Map<Integer, String> holders = new HashMap<>();
    private final Set<Integer> started = new HashSet<>();
    private int attempt;
    private int failures;
    private boolean held;
    private boolean ended;
    private @Nullable Instant retryAt;

    RunHistoryChecker(History history, boolean startsKnown, List<Violation> violations) {
        this.history = history;
        this.startsKnown = startsKnown;
        this.violations = violations;
    }

    void check(List<HistoryEvent> events) {
        for (HistoryEvent event : events) {
            switch (event.kind()) {
                case CREATED -> {}
                case LEASED -> leased(event);
                case STARTED -> started(event);
                case RELEASED -> released(event);
                case ENDED -> ended(event);
            }
        }
    }

    private void leased(HistoryEvent event) {
        if (ended) addViolation(SINGLE_END, event, "was leased after it had ended");
        if (held) addViolation(SINGLE_LEASE, event, "was leased while " + holders.get(attempt) + " held it");
        if (event.attempt() != attempt + 1)
            addViolation(SINGLE_LEASE, event, "was leased with an attempt number other than the next");
        Instant due = retryAt;
        history.expectations().retries().ifPresent(rule -> {
            if (due == null) return;
            if (event.at().isBefore(due.minus(ROUNDING))) addViolation(RETRY, event, "was retried too early");
            if (event.at().isAfter(due.plus(rule.tolerance()))) addViolation(RETRY, event, "was retried too late");
        });
        retryAt = null;
        attempt = event.attempt();
        holders.put(attempt, event.node());
        held = true;
    }

    private void started(HistoryEvent event) {
        if (!event.node().equals(holders.get(event.attempt())))
            addViolation(START_UNDER_LEASE, event, "started without a lease");
        if (!started.add(event.attempt())) addViolation(NO_DUPLICATE_START, event, "started twice under one lease");
    }

    private void released(HistoryEvent event) {
        if (!held) addViolation(SINGLE_LEASE, event, "was released although no node held it");
        else if (event.attempt() != attempt) addViolation(SINGLE_LEASE, event, "was released under an old lease");
        held = false;
        if (event.detail().startsWith("failed")) failed(event);
        if (event.detail().equals("crashed") && !lost(event.node(), event.at()))
            addViolation(NO_DUPLICATE_START, event, "was taken from a live node");
    }

    private void failed(HistoryEvent event) {
        failures++;
        String instant = event.detail().substring("failed".length()).strip();
        retryAt = instant.isEmpty() ? null : Instant.parse(instant);
        history.expectations().retries().ifPresent(rule -> {
            Retry retry = rule.retry();
            if (failures >= retry.attempts())
                addViolation(RETRY, event, "was scheduled for more attempts than allowed");
            double most = Math.min(
                    (double) retry.cap().toMillis(),
                    (double) retry.first().toMillis() * Math.pow(retry.factor(), failures - 1.0));
            Instant latest = event.at().plusMillis((long) most).plus(ROUNDING);
            if (retryAt != null && retryAt.isAfter(latest))
                addViolation(RETRY, event, "got a longer retry delay than allowed");
        });
    }

    private boolean lost(String node, Instant before) {
        return history.losses().stream()
                .anyMatch(nodeLoss ->
                        nodeLoss.node().equals(node) && !nodeLoss.at().isAfter(before));
    }

    private void ended(HistoryEvent event) {
        boolean succeeded = "succeeded".equals(event.detail());
        if (ended) addViolation(SINGLE_END, event, "ended twice");
        else if (held && event.attempt() != attempt) addViolation(SINGLE_END, event, "was ended under an old lease");
        else if (!held && succeeded) addViolation(SINGLE_END, event, "succeeded although no node held it");
        else if (succeeded && startsKnown && !started.contains(event.attempt()))
            addViolation(START_UNDER_LEASE, event, "succeeded without a start");
        ended = true;
        held = false;
    }

    private void addViolation(Violation.Invariant invariant, HistoryEvent event, String what) {
        violations.add(new Violation(
                invariant,
                "%s %s (attempt %d, node %s, %s)"
                        .formatted(event.run(), what, event.attempt(), event.node(), event.at())));
    }
}
