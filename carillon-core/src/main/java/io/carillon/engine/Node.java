package io.carillon.engine;

import io.carillon.run.Attempt;
import io.carillon.value.DatabaseClock;
import io.carillon.value.Uuid7;
import java.util.List;
import java.util.UUID;

/** This node as its loops share it: who it is, who else there is, what it holds, what it can handle and what time it is. */
final class Node {
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
        holding.forgetNotes(old);
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

    Held hold(UUID owner, Attempt attempt, long note) {
        Held held = new Held(owner, attempt, clock);
        held.note(note);
        holding.add(held);
        return held;
    }

    void dispatch(List<Held> claimed, boolean ahead) {
        dispatch.accept(claimed, ahead);
    }
}
