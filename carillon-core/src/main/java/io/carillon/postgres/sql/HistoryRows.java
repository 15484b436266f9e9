package io.carillon.postgres.sql;

import java.util.List;

/**
 * The text that writes {@code run_history}: one line for each run that ended, made from a relation that has the columns of {@code carillon.run}. What is not
 * said with {@link #with} stays null. Immutable.
 */
public final class HistoryRows {
    /** The columns that history has from the run as they are. */
    private static final List<String> COPIED = List.of(
            "project",
            "id",
            "queue",
            "class",
            "suspect",
            "crashes",
            "attempt",
            "failures",
            "due_at",
            "planned_at",
            "created_at",
            "schedule_id",
            "parent_id",
            "origin",
            "target",
            "target_name",
            "key",
            "trace");

    private final InsertText text;

    private HistoryRows(InsertText text) {
        this.text = text;
    }

    /** Lines of runs that end now: {@code row} names the relation of the runs, {@code state} is an expression, such as {@code 'cancelled'} in quotes. */
    public static HistoryRows of(String row, String state) {
        return new HistoryRows(InsertText.copying("carillon.run_history", row + ".", COPIED)
                .with("day", day(row))
                .with("ended_at", "carillon.clock()")
                .with("state", state));
    }

    /** The day of history to which a run that ends now, and an attempt that ends now, belongs. */
    public static String day(String row) {
        return "carillon.history_day(" + row + ".origin, " + row + ".day)";
    }

    /** Returns a copy that writes this expression to a column. */
    public HistoryRows with(String column, String expression) {
        return new HistoryRows(text.with(column, expression));
    }

    /** The statement, or its last part: {@code source} is what follows {@code FROM}. */
    public String from(String source) {
        return text.from(source);
    }

    /** The text that writes {@code dead_run}: runs that are kept with their payload until they are redriven or purged. Immutable. */
    public static final class Dead {
        /** The columns that a dead run has from the run as they are. */
        private static final List<String> COPIED = List.of(
                "project",
                "id",
                "queue",
                "class",
                "attempt",
                "failures",
                "crashes",
                "owner",
                "due_at",
                "planned_at",
                "schedule_id",
                "origin",
                "target",
                "target_name",
                "codec",
                "payload",
                "key",
                "gate_key",
                "gate_max",
                "trace",
                "policy");

        private final InsertText text;

        private Dead(InsertText text) {
            this.text = text;
        }

        /** Runs that die now: {@code row} names the relation of the runs; state and error are expressions, such as {@code 'dead'} in quotes. */
        public static Dead of(String row, String state, String error) {
            return new Dead(InsertText.copying("carillon.dead_run", row + ".", COPIED)
                    .with("state", state)
                    .with("error", error)
                    .with("died_at", "carillon.clock()"));
        }

        /** Returns a copy that writes this expression to a column. */
        public Dead with(String column, String expression) {
            return new Dead(text.with(column, expression));
        }

        /** The statement, or its last part: {@code source} is what follows {@code FROM}. */
        public String from(String source) {
            return text.from(source);
        }
    }
}
