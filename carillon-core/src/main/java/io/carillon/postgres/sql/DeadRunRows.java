package io.carillon.postgres.sql;

import java.util.List;

/** The text that inserts rows into {@code carillon.dead_run}, made from a relation that has the columns of {@code carillon.run}. Immutable. */
public final class DeadRunRows {
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

    private DeadRunRows(InsertText text) {
        this.text = text;
    }

    /** Runs that die now: {@code row} names the relation of the runs; state and error are expressions, such as {@code 'dead'} in quotes. */
    public static DeadRunRows of(String row, String state, String error) {
        return new DeadRunRows(InsertText.copying("carillon.dead_run", row + ".", COPIED)
                .with("state", state)
                .with("error", error)
                .with("died_at", "carillon.clock()"));
    }

    /** Returns a copy that writes this expression to a column. */
    public DeadRunRows with(String column, String expression) {
        return new DeadRunRows(text.with(column, expression));
    }

    /** The statement, or its last part: {@code source} is what follows {@code FROM}. */
    public String from(String source) {
        return text.from(source);
    }
}
