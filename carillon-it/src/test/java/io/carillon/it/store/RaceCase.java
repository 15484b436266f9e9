package io.carillon.it.store;

import io.carillon.store.Storage;

/**
 * How one statement is sent for the contested row of a scene, and whether it may leave that row to a second call. {@code again}: how its caller comes again;
 * for {@link Skip#LATER}, what comes by itself.
 */
record RaceCase(String statement, RaceScene scene, Skip skip, Deed deed, Deed again) {
    /** What a caller that comes again by itself (a claim, a sweep, a round of planning) may be told in the meantime. */
    enum Skip {
        /** Its answer must be right at once. */
        NEVER,
        /** It may leave out the contested row wholly; bystanders get their effect. Both answers together must tell of everything. */
        ROW,
        /** As {@link #ROW}, but it is one of several statements that may have had their effect. */
        PART,
        /** As {@link #ROW}, but it takes any rows that are free, or none. */
        ANY,
        /** Its answer does not tell what it left out, because something that comes by itself, told or not, makes up for it. */
        LATER
    }

    /** Sends the statement by these ports; what it returns is compared as text. */
    interface Deed {
        Object send(RaceStage stage, Storage through, Hand hand) throws Exception;
    }

    /** Which of the two sends: rows that a statement makes have ids by hand, and a batch contains the bystanders too. */
    enum Hand {
        FIRST,
        FIRST_BATCH,
        SECOND,
        SECOND_BATCH;

        boolean first() {
            return this == FIRST || this == FIRST_BATCH;
        }

        boolean batch() {
            return this == FIRST_BATCH || this == SECOND_BATCH;
        }
    }

    /** Whether its caller comes again if the answer says that something is left. */
    boolean repeats() {
        return skip != Skip.NEVER && skip != Skip.LATER;
    }

    boolean later() {
        return skip == Skip.LATER;
    }

    String text() {
        return Statements.bare(Statements.text(statement));
    }
}
