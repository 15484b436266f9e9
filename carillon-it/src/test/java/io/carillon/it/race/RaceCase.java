package io.carillon.it.race;

import io.carillon.internal.store.Storage;
import io.carillon.it.statement.Statements;

/**
 * A statement of a race: how a caller sends it for the contested row of a setup, and whether it may leave that row to a
 * second call. {@code repeatCall}: how the caller repeats the call; for {@link Skip#LATER}, the call that the engine
 * makes anyway.
 */
record RaceCase(String statement, RaceSetup setup, Skip skip, StatementCall call, StatementCall repeatCall) {
    /** The rows that a statement may skip because its caller repeats the call (a claim, a rescue, a planning round). */
    enum Skip {
        /** The first answer must be complete. */
        NEVER,
        /**
         * The statement may skip the contested row completely, but must take effect on the bystanders. Both answers
         * together must report all work.
         */
        ROW,
        /** Like {@link #ROW}, but other statements of the same call may already have taken effect on the row. */
        PART,
        /** Like {@link #ROW}, but the statement takes any unlocked rows, or none. */
        ANY,
        /** The answer does not report skipped rows, because a later call that the engine makes anyway does the rest. */
        LATER
    }

    /** Sends the statement through these ports and returns an answer, which is compared as text. */
    interface StatementCall {
        Object send(RaceFixture fixture, Storage through, Sender sender) throws Exception;
    }

    /**
     * The sender of a statement. Rows that a statement creates have ids by sender, and a batch contains
     * the bystanders too.
     */
    enum Sender {
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

    /** Returns whether the caller repeats the call if the answer reports that work is left. */
    boolean repeats() {
        return skip != Skip.NEVER && skip != Skip.LATER;
    }

    boolean isLater() {
        return skip == Skip.LATER;
    }

    String text() {
        return Statements.bare(Statements.text(statement));
    }
}
