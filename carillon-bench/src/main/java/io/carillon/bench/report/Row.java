package io.carillon.bench.report;

import org.jspecify.annotations.Nullable;

/**
 * A row of the table.
 *
 * @param bar the required value; empty if the row is only for comparison
 * @param met whether the bar was met, null without a bar
 */
public record Row(
        String name, String bar, String measured, @Nullable Boolean met, String note) {
    /** Returns a row without a bar. */
    public static Row info(String name, String measured, String note) {
        return new Row(name, "", measured, null, note);
    }

    public static Row judged(String name, String bar, String measured, boolean met) {
        return new Row(name, bar, measured, met, "");
    }

    public Row note(String text) {
        return new Row(name, bar, measured, met, note.isEmpty() ? text : note + "; " + text);
    }

    /** Returns yes, NO, or nothing without a bar. */
    public String verdict() {
        return met == null ? "" : met ? "yes" : "NO";
    }
}
