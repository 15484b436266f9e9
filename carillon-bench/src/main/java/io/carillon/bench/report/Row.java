package io.carillon.bench.report;

import org.jspecify.annotations.Nullable;

/** One line of the table: what was asked (empty: nothing, it is there to compare with), what was measured, and whether that is enough. */
public record Row(
        String name, String bar, String measured, @Nullable Boolean met, String note) {
    /** A row without a bar. */
    public static Row info(String name, String measured, String note) {
        return new Row(name, "", measured, null, note);
    }

    public static Row judged(String name, String bar, String measured, boolean met) {
        return new Row(name, bar, measured, met, "");
    }

    public Row note(String text) {
        return new Row(name, bar, measured, met, note.isEmpty() ? text : note + "; " + text);
    }

    /** yes, no, or nothing where there is no bar. */
    public String verdict() {
        return met == null ? "" : met ? "yes" : "NO";
    }
}
