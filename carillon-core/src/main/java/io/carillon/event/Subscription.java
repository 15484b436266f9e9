package io.carillon.event;

import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A stored subscription.
 *
 * @param version raised by each change
 * @param owner whether it was defined by the code of an application when it started
 * @param definition its target, pattern and order. The start is where it started only if it is new
 * @param pause null if it is not paused
 * @param lag the events that have no run yet
 * @param replays how many replays are in progress
 */
public record Subscription(
        SubscriptionDefinition definition,
        long version,
        Owner owner,
        Instant createdAt,
        @Nullable Pause pause,
        Lag lag,
        int replays) {
    /** The origin of the definition. */
    public enum Owner {
        /** A call of the API or the command. */
        API,
        /** {@code subscribe} of the builder, when a process started. */
        CODE;

        /** Returns the owner in lower case, as it is stored and shown. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * Why a subscription is paused.
     *
     * @param by null if it is not known
     */
    public record Pause(
            Instant at, @Nullable String by, @Nullable String reason) {}

    /**
     * The events that match a subscription and have no run yet.
     *
     * @param count their number, counted up to {@link #MAX_COUNT}
     * @param oldest when the first of them was published; null if there are none
     */
    public record Lag(long count, @Nullable Instant oldest) {
        /** Events are counted up to this number. */
        public static final long MAX_COUNT = 10_000;
    }

    /** Returns the name. */
    public String name() {
        return definition.name();
    }

    /** Returns the events that it selects. */
    public EventPattern pattern() {
        return definition.pattern();
    }

    /** Returns whether the events of one key are delivered one after the other. */
    public boolean inOrder() {
        return definition.options().isOrdered();
    }

    /** Returns when it was paused; null if it is not paused. */
    public @Nullable Instant pausedAt() {
        return pause == null ? null : pause.at();
    }

    /** Returns why it is paused; null if it is not paused, or without a reason. */
    public @Nullable String pausedReason() {
        return pause == null ? null : pause.reason();
    }
}
