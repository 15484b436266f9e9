package io.carillon.postgres.sql;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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

    private final Map<String, String> cells;

    private HistoryRows(Map<String, String> cells) {
        this.cells = cells;
    }

    /** Lines of runs that end now: {@code row} names the relation of the runs, {@code state} is an expression, such as {@code 'cancelled'} in quotes. */
    public static HistoryRows of(String row, String state) {
        Map<String, String> cells = new LinkedHashMap<>();
        for (String column : COPIED) cells.put(column, row + "." + column);
        cells.put("day", day(row));
        cells.put("ended_at", "carillon.clock()");
        cells.put("state", state);
        return new HistoryRows(cells);
    }

    /** The day of history to which a run that ends now, and an attempt that ends now, belongs. */
    public static String day(String row) {
        return "carillon.history_day(" + row + ".origin, " + row + ".day)";
    }

    /** Returns a copy that writes this expression to a column. */
    public HistoryRows with(String column, String expression) {
        Map<String, String> more = new LinkedHashMap<>(cells);
        more.put(column, expression);
        return new HistoryRows(more);
    }

    /** The statement, or its last part: {@code source} is what follows {@code FROM}. */
    public String from(String source) {
        return "INSERT INTO carillon.run_history (" + String.join(", ", cells.keySet()) + ")\nSELECT "
                + String.join(", ", cells.values()) + "\n  FROM " + source + "\n";
    }
}
