package io.carillon.postgres.sql;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** An INSERT … SELECT as a list of columns with their expressions, in one order: the same text in every process. */
record InsertText(String table, Map<String, String> cells) {
    InsertText {
        cells = Collections.unmodifiableMap(new LinkedHashMap<>(cells));
    }

    /** Columns whose expression is their name behind a prefix. */
    static InsertText copying(String table, String prefix, List<String> columns) {
        Map<String, String> cells = new LinkedHashMap<>();
        for (String column : columns) cells.put(column, prefix + column);
        return new InsertText(table, cells);
    }

    InsertText with(String column, String expression) {
        Map<String, String> more = new LinkedHashMap<>(cells);
        more.put(column, expression);
        return new InsertText(table, more);
    }

    String cell(String column) {
        return Objects.requireNonNull(cells.get(column), column);
    }

    String columns() {
        return "(" + String.join(", ", cells.keySet()) + ")";
    }

    /** {@code source} is what follows {@code FROM}. */
    String from(String source) {
        return "INSERT INTO " + table + " " + columns() + "\nSELECT " + String.join(", ", cells.values()) + "\n  FROM "
                + source + "\n";
    }
}
