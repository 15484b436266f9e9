package io.carillon.internal.engine.relay;

import io.carillon.event.EventId;
import io.carillon.internal.store.event.EventPosition;
import java.util.Optional;
import java.util.UUID;

/**
 * Identifies a batch; stored with it at the destination. The cursor is written later, so after a crash the mark shows
 * whether the batch was accepted.
 *
 * <p>A mark is used only if the database, read again, has the same batch. After the database was restored from an older
 * backup, the events behind the cursor can be others; then they are sent.
 */
sealed interface RelayMark {
    /** Returns the text that is stored at the destination. */
    String text();

    /**
     * Events behind the cursor.
     *
     * @param from the cursor before the batch
     * @param to the position of the last event that was read for it
     * @param read how many events were read for it, including those that are held
     * @param last the last of them
     */
    record Current(EventPosition from, EventPosition to, int read, EventId last) implements RelayMark {
        @Override
        public String text() {
            return "current %s %s %d %s".formatted(from, to, read, last.value());
        }
    }

    /**
     * Events that were held and that an operator has decided about, and those that wait behind them.
     *
     * @param first the position of the first one
     * @param rows how many there are
     */
    record Decided(EventPosition first, int rows) implements RelayMark {
        @Override
        public String text() {
            return "decided %s %d".formatted(first, rows);
        }
    }

    /** Parses a text; empty if it is not one of this version. */
    static Optional<RelayMark> parse(String text) {
        String[] parts = text.split(" ", -1);
        try {
            if (parts[0].equals("current") && parts.length == 5)
                return Optional.of(new Current(
                        EventPosition.parse(parts[1]),
                        EventPosition.parse(parts[2]),
                        Integer.parseInt(parts[3]),
                        new EventId(UUID.fromString(parts[4]))));
            if (parts[0].equals("decided") && parts.length == 3)
                return Optional.of(new Decided(EventPosition.parse(parts[1]), Integer.parseInt(parts[2])));
        } catch (IllegalArgumentException unknown) {
            // Written by another version, or by another program.
        }
        return Optional.empty();
    }
}
