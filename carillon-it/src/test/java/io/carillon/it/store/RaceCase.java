package io.carillon.it.store;

import io.carillon.store.Storage;

/** How one statement is sent for the contested row of a scene, and whether it may leave that row to a second try. */
record RaceCase(String statement, RaceScene scene, Skip skip, Deed deed) {
    /** What a caller that comes again by itself (a claim, a sweep, a round of planning) may be told in the meantime. */
    enum Skip {
        /** Its answer must be right at once. */
        NEVER,
        /** It may leave out the contested row wholly; bystanders get their effect. */
        ROW,
        /** As {@link #ROW}, but it is one of several statements that may have had their effect. */
        PART,
        /** It takes any rows that are free, or none. */
        ANY
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

    boolean skips() {
        return skip != Skip.NEVER;
    }

    String text() {
        return Statements.bare(Statements.text(statement));
    }
}
