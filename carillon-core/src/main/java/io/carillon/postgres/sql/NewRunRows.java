package io.carillon.postgres.sql;

import java.util.List;

/**
 * The text that inserts rows into {@code carillon.run}: new runs, each made from a row that has the columns of {@link #WORK}, such as a schedule or a dead
 * run. Columns that are not set stay at their default. Immutable.
 */
public final class NewRunRows {
    /** The columns that say where a run belongs and what it does. */
    private static final List<String> WORK =
            List.of("project", "queue", "class", "target", "target_name", "codec", "payload", "trace");

    private final InsertText text;

    private NewRunRows(InsertText text) {
        this.text = text;
    }

    /**
     * Runs that are due at a time and ready for a claim then. {@code row} names the relation that has the work of the runs; the others are expressions,
     * such as {@code 'trigger'} in quotes for the origin.
     */
    public static NewRunRows of(String row, String id, String origin, String dueAt) {
        return reading(row + ".", id, origin, dueAt);
    }

    /** One run whose work comes in parameters of the names of the columns, and {@code :name} for the handler. */
    public static NewRunRows ofParameters(String dueAt) {
        return reading(":", ":id", ":origin", dueAt).with("target_name", ":name");
    }

    private static NewRunRows reading(String prefix, String id, String origin, String dueAt) {
        return new NewRunRows(InsertText.copying("carillon.run", prefix, WORK)
                .with("id", id)
                .with("origin", origin)
                .with("due_at", dueAt)
                .with("ready_at", dueAt)
                .with("day", "(greatest(" + dueAt + ", carillon.clock()) AT TIME ZONE 'UTC')::date"));
    }

    /** Returns a copy that writes this expression to a column. */
    public NewRunRows with(String column, String expression) {
        return new NewRunRows(text.with(column, expression));
    }

    /**
     * Returns a copy whose runs belong to the schedule {@code row} and have its policies. Unless the schedule allows overlaps, they wait behind its gate, in the
     * order of an instant, from the time they are due.
     */
    public NewRunRows ofSchedule(String row, String instant) {
        String gated = "CASE WHEN " + row + ".overlap <> 'allow' THEN ";
        String dueAt = text.cell("due_at");
        return with("schedule_id", row + ".id")
                .with("policy", row + ".policy")
                .with("ready_at", gated + "'infinity' ELSE " + dueAt + " END")
                .with("parked", gated + "'gate' END")
                .with("gate_key", "'overlap:' || " + gated + row + ".id::text END")
                .with("seq", gated + micros(instant) + " END")
                .with("gate_at", gated + dueAt + " END");
    }

    /**
     * Returns a copy whose runs wait behind the gate {@code key}, an expression that is null for runs without one. Strict lines are in the order of
     * the inserts, all others in the order of the due times.
     */
    public NewRunRows behindGate(String key, String max) {
        String gated = "CASE WHEN " + key + " IS NOT NULL ";
        String dueAt = text.cell("due_at");
        return with("gate_key", key)
                .with("gate_max", max)
                .with("ready_at", gated + "THEN 'infinity' ELSE " + dueAt + " END")
                .with("parked", gated + "THEN 'gate' END")
                .with(
                        "seq",
                        "CASE WHEN " + key + " LIKE 'fifo:%' THEN nextval('carillon.gate_seq') WHEN " + key
                                + " IS NOT NULL THEN " + micros(dueAt) + " END")
                .with("gate_at", gated + "AND " + dueAt + " > carillon.clock() THEN " + dueAt + " END");
    }

    private static String micros(String instant) {
        return "(extract(epoch FROM " + instant + ") * 1000000)::bigint";
    }

    /** The columns that every new run has, in parentheses: those of {@link #WORK}, then id, origin, due_at, ready_at and day. */
    public static String columns() {
        return ofParameters("").text.columns();
    }

    /** The statement, or its last part: {@code source} is what follows {@code FROM}. */
    public String from(String source) {
        return text.from(source);
    }
}
