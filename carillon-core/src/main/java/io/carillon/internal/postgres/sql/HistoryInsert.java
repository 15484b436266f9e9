package io.carillon.internal.postgres.sql;

import java.util.List;

/**
 * The SQL that inserts into {@code run_history}: one row for each run that ended, from a relation that has the columns
 * of {@code carillon.run}. Columns that are not set by {@link #with} stay null. Immutable.
 */
public final class HistoryInsert {
    /** The columns that are copied from the run. */
    private static final List<String> COPIED_COLUMNS = List.of(
            "project",
            "id",
            "queue",
            "priority",
            "node_deaths",
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
            "headers",
            "policy");

    private final InsertStatement text;

    private HistoryInsert(InsertStatement text) {
        this.text = text;
    }

    /**
     * Creates an insert for runs that end now. {@code row} names the relation of the runs; {@code state} is an SQL
     * expression, such as {@code 'cancelled'} in quotes.
     */
    public static HistoryInsert of(String row, String state) {
        return new HistoryInsert(InsertStatement.copying("carillon.run_history", row + ".", COPIED_COLUMNS)
                .with("day", historyDay(row))
                .with("ended_at", "carillon.clock()")
                .with("state", state));
    }

    /** Returns the expression of the history day for a run or an attempt that ends now. */
    public static String historyDay(String row) {
        return "carillon.history_day(" + row + ".origin, " + row + ".day)";
    }

    /** Returns a copy that writes this expression to a column. */
    public HistoryInsert with(String column, String expression) {
        return new HistoryInsert(text.with(column, expression));
    }

    /** Returns the statement, or its last part; {@code source} is the text after {@code FROM}. */
    public String from(String source) {
        return text.from(source);
    }

    /**
     * The SQL that inserts into {@code dead_run}: runs that are kept with their payload until they are redriven or
     * purged. Immutable.
     */
    public static final class DeadRunInsert {
        /** The columns that are copied from the run. */
        private static final List<String> COPIED_COLUMNS = List.of(
                "project",
                "id",
                "queue",
                "priority",
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
                "gate_limit",
                "headers",
                "policy");

        private final InsertStatement text;

        private DeadRunInsert(InsertStatement text) {
            this.text = text;
        }

        /**
         * Creates an insert for runs that die now. {@code row} names the relation of the runs; state and error are SQL
         * expressions, such as {@code 'dead'} in quotes.
         */
        public static DeadRunInsert of(String row, String state, String error) {
            return new DeadRunInsert(InsertStatement.copying("carillon.dead_run", row + ".", COPIED_COLUMNS)
                    .with("state", state)
                    .with("error", error)
                    .with("died_at", "carillon.clock()")
                    .with(
                            "payload",
                            "CASE WHEN " + row + ".origin = 'event' THEN carillon.complete_event_payload(" + row
                                    + ".project, " + row + ".payload) ELSE " + row + ".payload END"));
        }

        /** Returns a copy that writes this expression to a column. */
        public DeadRunInsert with(String column, String expression) {
            return new DeadRunInsert(text.with(column, expression));
        }

        /** Returns the statement, or its last part; {@code source} is the text after {@code FROM}. */
        public String from(String source) {
            return text.from(source);
        }
    }
}
