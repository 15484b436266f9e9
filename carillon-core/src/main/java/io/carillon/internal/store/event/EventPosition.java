package io.carillon.internal.store.event;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;

/**
 * A position in the order of all events: behind the event with this {@code seq} in this snapshot. The text form is
 * {@code snapshot-seq}, or the snapshot alone if all of its events are before the position.
 */
public record EventPosition(long snapshot, long seq) {
    /** The {@code seq} of a position behind all events of its snapshot. */
    public static final long END = Long.MAX_VALUE;

    /** Returns the position behind all events of a snapshot. */
    public static EventPosition endOf(long snapshot) {
        return new EventPosition(snapshot, END);
    }

    /** Returns the last snapshot all of whose events are before this position. */
    public long base() {
        return seq == END ? snapshot : snapshot - 1;
    }

    /** Returns whether this position is behind the other one. */
    public boolean isAfter(EventPosition other) {
        return snapshot > other.snapshot || (snapshot == other.snapshot && seq > other.seq);
    }

    /** Parses the text form. */
    public static EventPosition parse(String text) {
        String[] parts = text.split("-", -1);
        try {
            long snapshot = Long.parseLong(parts[0]);
            long seq = parts.length == 1 ? END : Long.parseLong(parts[1]);
            if (parts.length <= 2 && snapshot >= 0 && seq > 0 && (snapshot > 0 || seq == END))
                return new EventPosition(snapshot, seq);
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
        return seq == END ? Long.toString(snapshot) : snapshot + "-" + seq;
    }
}
