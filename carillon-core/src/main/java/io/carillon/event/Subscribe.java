package io.carillon.event;

import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The options of a subscription: the order of its deliveries, and where a new subscription starts. Immutable.
 */
public final class Subscribe {
    /** Where a new subscription starts. An existing subscription continues at its cursor. */
    public sealed interface Start {
        /** With the events that commit after the subscription was created. */
        record Now() implements Start {}

        /** With the oldest event that is stored. */
        record Beginning() implements Start {}

        /** With the events that committed from about this instant on; it may also deliver a few earlier events. */
        record At(Instant instant) implements Start {}
    }

    private final boolean ordered;
    private final Start start;

    private Subscribe(boolean ordered, Start start) {
        this.ordered = ordered;
        this.start = start;
    }

    /**
     * Delivers the events of one key one after the other, in their order. The next event of a key waits until the
     * delivery of the previous one has succeeded or is dead. Events without a key have no order.
     */
    public static Subscribe inOrder() {
        return new Subscribe(true, new Start.Now());
    }

    /** Delivers events as soon as possible, several of one key at the same time. */
    public static Subscribe inAnyOrder() {
        return new Subscribe(false, new Start.Now());
    }

    /** Returns options whose new subscription starts with the oldest event that is stored. */
    public Subscribe fromBeginning() {
        return new Subscribe(ordered, new Start.Beginning());
    }

    /** Returns options whose new subscription starts at an instant. */
    public Subscribe from(Instant instant) {
        return new Subscribe(ordered, new Start.At(instant));
    }

    /** Returns whether the events of one key are delivered one after the other. */
    public boolean isOrdered() {
        return ordered;
    }

    /** Returns where a new subscription starts. */
    public Start start() {
        return start;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Subscribe that && ordered == that.ordered && start.equals(that.start);
    }

    @Override
    public int hashCode() {
        return Objects.hash(ordered, start);
    }

    @Override
    public String toString() {
        return "Subscribe[" + (ordered ? "in order" : "in any order") + ", start=" + start + "]";
    }
}
