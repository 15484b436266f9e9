package io.carillon.internal.store.event;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;

/**
 * A position in the order of all events: behind the event with this {@code seq} in this tick. The text form is
 * {@code tick-seq}, or the tick alone if all of its events are before the position.
 */
public record EventPosition(long tick, long seq) {
    /** The {@code seq} of a position behind all events of its tick. */
    public static final long END = Long.MAX_VALUE;

    /** Returns the position behind all events of a tick. */
    public static EventPosition endOf(long tick) {
        return new EventPosition(tick, END);
    }

    /** Returns the last tick all of whose events are before this position. */
    public long base() {
        return seq == END ? tick : tick - 1;
    }

    /** Returns whether this position is behind the other one. */
    public boolean isAfter(EventPosition other) {
        return tick > other.tick || (tick == other.tick && seq > other.seq);
    }

    /** Parses the text form. */
    public static EventPosition parse(String text) {
        String[] parts = text.split("-", -1);
        try {
            long tick = Long.parseLong(parts[0]);
            long seq = parts.length == 1 ? END : Long.parseLong(parts[1]);
            if (parts.length <= 2 && tick >= 0 && seq > 0 && (tick > 0 || seq == END))
                return new EventPosition(tick, seq);
        } catch (NumberFormatException malformed) {
            // Rejected below.
        }
        throw new CarillonException(
                ErrorCode.MALFORMED_ID,
                "The position of an event '%s' is not valid. Use the value 'next' of the previous page."
                        .formatted(text.length() > 60 ? text.substring(0, 60) + "…" : text));
    }

    @Override
    public String toString() {
        return seq == END ? Long.toString(tick) : tick + "-" + seq;
    }
}
