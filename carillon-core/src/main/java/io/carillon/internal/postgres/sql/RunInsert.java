package io.carillon.internal.postgres.sql;

import java.util.List;

/**
 * The SQL that inserts into {@code carillon.run}: new runs, each from a row that has the columns of
 * {@link #WORK_COLUMNS}, such as a schedule or a dead run. Columns that are not set keep their default. Immutable.
 */
public final class RunInsert {
    /** The columns that say to which lane a run belongs and what it does. */
    private static final List<String> WORK_COLUMNS =
            List.of("project", "queue", "priority", "target", "target_name", "codec", "payload", "headers", "policy");

    private final InsertStatement text;

    private RunInsert(InsertStatement text) {
        this.text = text;
    }

    /**
     * Creates an insert for runs that are due, and can be claimed, at {@code dueAt}. {@code row} names the relation
     * that has the work of the runs; the other parameters are SQL expressions, such as {@code 'trigger'} in quotes for
     * the origin.
     */
    public static RunInsert of(String row, String id, String origin, String dueAt) {
        return copying(row + ".", id, origin, dueAt);
    }

    /**
     * Creates an insert for one run from parameters with the names of the columns, and {@code :name} for the handler.
     */
    public static RunInsert ofParameters(String dueAt) {
        return copying(":", ":id", ":origin", dueAt).with("target_name", ":name");
    }

    private static RunInsert copying(String prefix, String id, String origin, String dueAt) {
        return new RunInsert(InsertStatement.copying("carillon.run", prefix, WORK_COLUMNS)
                .with("id", id)
                .with("origin", origin)
                .with("due_at", dueAt)
                .with("ready_at", dueAt)
                .with("day", "(greatest(" + dueAt + ", carillon.clock()) AT TIME ZONE 'UTC')::date"));
    }

    /** Returns a copy that writes this expression to a column. */
    public RunInsert with(String column, String expression) {
        return new RunInsert(text.with(column, expression));
    }

    /**
     * Returns a copy whose runs belong to the schedule {@code row}. Unless the schedule allows overlaps, they wait
     * behind its gate in the order of {@code instant}, from the time they are due.
     */
    public RunInsert ofSchedule(String row, String instant) {
        String gated = "CASE WHEN " + row + ".overlap <> 'allow' THEN ";
        String dueAt = text.expression("due_at");
        return with("schedule_id", row + ".id")
                .with("ready_at", gated + "'infinity' ELSE " + dueAt + " END")
                .with("parked", gated + "'gate' END")
                .with("gate_key", "'overlap:' || " + gated + row + ".id::text END")
                .with("gate_position", gated + micros(instant) + " END")
                .with("gate_arrival_at", gated + dueAt + " END");
    }

    /**
     * Returns a copy whose runs wait behind the gate {@code key}, an expression that is null for runs without a gate.
     * Runs with a FIFO key wait in the order of the inserts, all others in the order of the due times.
     */
    public RunInsert behindGate(String key, String max) {
        String gated = "CASE WHEN " + key + " IS NOT NULL ";
        String dueAt = text.expression("due_at");
        return with("gate_key", key)
                .with("gate_limit", max)
                .with("ready_at", gated + "THEN 'infinity' ELSE " + dueAt + " END")
                .with("parked", gated + "THEN 'gate' END")
                .with(
                        "gate_position",
                        "CASE WHEN " + key + " LIKE 'fifo:%' THEN nextval('carillon.gate_position_seq') WHEN " + key
                                + " IS NOT NULL THEN " + micros(dueAt) + " END")
                .with("gate_arrival_at", gated + "AND " + dueAt + " > carillon.clock() THEN " + dueAt + " END");
    }

    private static String micros(String instant) {
        return "(extract(epoch FROM " + instant + ") * 1000000)::bigint";
    }

    /**
     * Returns the columns that every new run has, in parentheses: {@link #WORK_COLUMNS}, then id, origin, due_at,
     * ready_at and day.
     */
    public static String columns() {
        return ofParameters("").text.columns();
    }

    /** Returns the statement, or its last part; {@code source} is the text after {@code FROM}. */
    public String from(String source) {
        return text.from(source);
    }
}
