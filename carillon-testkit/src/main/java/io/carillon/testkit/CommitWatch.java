package io.carillon.testkit;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Follows one connection far enough to know when an awaited statement has been committed, and keeps back the server's answers until that is decided. A
 * round is what the server closes with one ReadyForQuery: a simple query, or everything up to a Sync.
 */
final class CommitWatch {
    private final Supplier<Ambush> ambush;
    private final Map<String, String> statements = new HashMap<>();
    private final Map<String, String> portals = new HashMap<>();
    private final Deque<Round> asked = new ArrayDeque<>();
    private final List<Frame> held = new ArrayList<>();
    private Round open = new Round();
    private @Nullable Ambush armed;

    CommitWatch(Supplier<Ambush> ambush) {
        this.ambush = ambush;
    }

    /** Takes note of what the client asks; to be called before the server gets it. */
    synchronized void fromClient(Frame frame) {
        switch (frame.letter()) {
            case 'P' -> statements.put(frame.text(0, 0), frame.text(0, 1));
            case 'B' -> portals.put(frame.text(0, 0), statements.getOrDefault(frame.text(0, 1), ""));
            case 'E' -> open.executes(portals.getOrDefault(frame.text(0, 0), ""), ambush.get());
            case 'C' -> (frame.charAt(0) == 'S' ? statements : portals).remove(frame.text(1, 0));
            case 'Q' -> {
                open.executes(frame.text(0, 0), ambush.get());
                close();
            }
            case 'S', 'F' -> close();
            default -> {}
        }
    }

    private void close() {
        asked.add(open);
        open = new Round();
    }

    /** What may go on to the client now; null: cut the connection, the commit is done and nobody shall hear of it. */
    synchronized @Nullable List<Frame> fromServer(Frame frame) {
        Round round = asked.isEmpty() ? open : asked.element();
        held.add(frame);
        switch (frame.letter()) {
            case 'E' -> round.failed = true;
            case 'C' -> round.completed(frame.text(0, 0));
            case 'Z' -> {
                asked.poll();
                if (strikes(round, frame.charAt(0) == 'I')) return null;
                return release();
            }
            // The client must see these before it can go on with its round.
            case 'G', 'H', 'W' -> {
                return release();
            }
            default -> {}
        }
        return armed != null || round.awaited != null ? List.of() : release();
    }

    private boolean strikes(Round round, boolean idle) {
        if (round.awaited != null && (round.anyRow || !round.awaited.deadly())) armed = round.awaited;
        if (!idle || armed == null) return false;
        Ambush ready = armed;
        armed = null;
        return !round.failed && !round.rolledBack && ready.strike();
    }

    private List<Frame> release() {
        List<Frame> released = List.copyOf(held);
        held.clear();
        return released;
    }

    /** What was asked, and how the server answered. */
    private static final class Round {
        private @Nullable Ambush awaited;
        private boolean failed;
        private boolean rolledBack;
        private boolean anyRow;

        /** The server's word ends in the number of rows, where there are rows. */
        private void completed(String word) {
            rolledBack = word.equals("ROLLBACK");
            if (word.matches(".* [1-9]\\d*")) anyRow = true;
        }

        private void executes(String text, Ambush ambush) {
            if (awaited == null && ambush.awaits(text)) awaited = ambush;
        }
    }
}
