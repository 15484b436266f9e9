package io.carillon.internal.postgres.sql;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** An INSERT … SELECT as columns with their expressions, in a fixed order: the text is the same in every process. */
record InsertStatement(String table, Map<String, String> expressions) {
    InsertStatement {
        expressions = Collections.unmodifiableMap(new LinkedHashMap<>(expressions));
    }

    /** Creates a statement that reads each column under its own name behind a prefix. */
    static InsertStatement copying(String table, String prefix, List<String> columns) {
        Map<String, String> cells = new LinkedHashMap<>();
        for (String column : columns) cells.put(column, prefix + column);
        return new InsertStatement(table, cells);
    }

    InsertStatement with(String column, String expression) {
        Map<String, String> more = new LinkedHashMap<>(expressions);
        more.put(column, expression);
        return new InsertStatement(table, more);
    }

    String expression(String column) {
        return Objects.requireNonNull(expressions.get(column), column);
    }

    String columns() {
        return "(" + String.join(", ", expressions.keySet()) + ")";
    }

    /** Returns the statement; {@code source} is the text after {@code FROM}. */
    String from(String source) {
        return "INSERT INTO " + table + " " + columns() + "\nSELECT " + String.join(", ", expressions.values())
                + "\n  FROM " + source + "\n";
    }
}
