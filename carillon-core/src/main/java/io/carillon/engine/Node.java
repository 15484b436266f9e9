package io.carillon.engine;

import io.carillon.run.Attempt;
import io.carillon.value.Uuid7;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** This node as its loops share it: who it is, who else there is, what it holds, what it can handle and what time it is. */
final class Node {
    private static final Duration PROBATION = Duration.ofSeconds(10);

    /** Where claimed attempts go; {@code ahead}: before those of other lanes that wait. */
    @FunctionalInterface
    interface Dispatch {
        void accept(List<Held> claimed, boolean ahead);
    }

    /** An id is never used again: who was declared dead comes back as somebody else. */
    private volatile UUID id = Uuid7.next();

    private final Holding holding;
    private final HandlerBook handlers;
    private final DatabaseClock clock;
    private final Crowd crowd = new Crowd();
    private final Dispatch dispatch;

    Node(Holding holding, HandlerBook handlers, DatabaseClock clock, Dispatch dispatch) {
        this.holding = holding;
        this.handlers = handlers;
        this.clock = clock;
        this.dispatch = dispatch;
    }

    UUID id() {
        return id;
    }

    /** Becomes somebody else, if it still is who it was; true: it was this call that did it. */
    synchronized boolean rebirth(UUID old) {
        if (!id.equals(old)) return false;
        id = Uuid7.next();
        return true;
    }

    Holding holding() {
        return holding;
    }

    HandlerBook handlers() {
        return handlers;
    }

    DatabaseClock clock() {
        return clock;
    }

    Crowd crowd() {
        return crowd;
    }

    Held hold(UUID owner, Attempt attempt) {
        Held held = new Held(owner, attempt, clock);
        holding.add(held);
        return held;
    }

    void dispatch(List<Held> claimed, boolean ahead) {
        dispatch.accept(claimed, ahead);
    }

    /** A suspect runs alone among suspects until it has shown for a while that it does not kill its node; the more often suspected, the longer. */
    static Duration probation(Attempt attempt) {
        int doublings = Math.min(10, 2 * Math.max(0, attempt.counts().suspicions() - 1));
        return PROBATION.multipliedBy(1L << doublings);
    }

    boolean suspectOnProbation() {
        return holding.all().stream()
                .anyMatch(held -> held.attemptValue().counts().suspect() && !harmless(held));
    }

    /** Whether a suspect has run for long enough. */
    boolean harmless(Held held) {
        return held.sinceStart().compareTo(probation(held.attemptValue())) >= 0;
    }
}
