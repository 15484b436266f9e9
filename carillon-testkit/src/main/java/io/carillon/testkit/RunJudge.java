package io.carillon.testkit;

import static io.carillon.testkit.Complaint.Invariant.NO_NEEDLESS_START;
import static io.carillon.testkit.Complaint.Invariant.ONE_END;
import static io.carillon.testkit.Complaint.Invariant.ONE_LEASE;
import static io.carillon.testkit.Complaint.Invariant.RETRY;
import static io.carillon.testkit.Complaint.Invariant.STARTS_LEASED;

import io.carillon.run.Retry;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Walks through what happened to one run. */
final class RunJudge {
    /** The pauses are the engine's, which measures in milliseconds. */
    private static final Duration ROUNDING = Duration.ofMillis(5);

    private final History history;
    private final boolean startsKnown;
    private final List<Complaint> complaints;
    private final Map<Integer, String> holders = new HashMap<>();
    private final Set<Integer> started = new HashSet<>();
    private int attempt;
    private int failures;
    private boolean held;
    private boolean ended;
    private @Nullable Instant again;

    RunJudge(History history, boolean startsKnown, List<Complaint> complaints) {
        this.history = history;
        this.startsKnown = startsKnown;
        this.complaints = complaints;
    }

    void judge(List<RunEvent> events) {
        for (RunEvent event : events) {
            switch (event.kind()) {
                case BORN -> {}
                case LEASED -> leased(event);
                case STARTED -> started(event);
                case LET_GO -> letGo(event);
                case ENDED -> ended(event);
            }
        }
    }

    private void leased(RunEvent event) {
        if (ended) wrong(ONE_END, event, "was leased after it had ended");
        if (held) wrong(ONE_LEASE, event, "was leased while " + holders.get(attempt) + " held it");
        if (event.attempt() != attempt + 1) wrong(ONE_LEASE, event, "was leased with a number other than the next");
        Instant due = again;
        history.promises().retries().ifPresent(rule -> {
            if (due == null) return;
            if (event.at().isBefore(due.minus(ROUNDING))) wrong(RETRY, event, "was tried again too early");
            if (event.at().isAfter(due.plus(rule.slack()))) wrong(RETRY, event, "was tried again too late");
        });
        again = null;
        attempt = event.attempt();
        holders.put(attempt, event.node());
        held = true;
    }

    private void started(RunEvent event) {
        if (!event.node().equals(holders.get(event.attempt())))
            wrong(STARTS_LEASED, event, "started without a lease of its own");
        if (!started.add(event.attempt())) wrong(NO_NEEDLESS_START, event, "started twice under one lease");
    }

    private void letGo(RunEvent event) {
        if (!held) wrong(ONE_LEASE, event, "was let go although nobody held it");
        else if (event.attempt() != attempt) wrong(ONE_LEASE, event, "was let go by an old lease");
        held = false;
        if (event.detail().startsWith("failed")) failed(event);
        if (event.detail().equals("crashed") && !lost(event.node(), event.at()))
            wrong(NO_NEEDLESS_START, event, "was taken from a node that lived");
    }

    private void failed(RunEvent event) {
        failures++;
        String instant = event.detail().substring("failed".length()).strip();
        again = instant.isEmpty() ? null : Instant.parse(instant);
        history.promises().retries().ifPresent(rule -> {
            Retry retry = rule.retry();
            if (failures >= retry.attempts()) wrong(RETRY, event, "was to be tried more often than allowed");
            double most = Math.min(
                    (double) retry.cap().toMillis(),
                    (double) retry.first().toMillis() * Math.pow(retry.factor(), failures - 1.0));
            Instant latest = event.at().plusMillis((long) most).plus(ROUNDING);
            if (again != null && again.isAfter(latest)) wrong(RETRY, event, "was to pause longer than allowed");
        });
    }

    private boolean lost(String node, Instant before) {
        return history.losses().stream()
                .anyMatch(loss -> loss.node().equals(node) && !loss.at().isAfter(before));
    }

    private void ended(RunEvent event) {
        boolean succeeded = "succeeded".equals(event.detail());
        if (ended) wrong(ONE_END, event, "ended twice");
        else if (held && event.attempt() != attempt) wrong(ONE_END, event, "was ended by an old lease");
        else if (!held && succeeded) wrong(ONE_END, event, "succeeded although nobody held it");
        else if (succeeded && startsKnown && !started.contains(event.attempt()))
            wrong(STARTS_LEASED, event, "succeeded without having been started");
        ended = true;
        held = false;
    }

    private void wrong(Complaint.Invariant invariant, RunEvent event, String what) {
        complaints.add(new Complaint(
                invariant,
                "%s %s (attempt %d, node %s, %s)"
                        .formatted(event.run(), what, event.attempt(), event.node(), event.at())));
    }
}
