package io.carillon.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The findings of a workload: rows for people, and all measured values behind them. */
public final class Findings {
    private final List<Row> rows = new ArrayList<>();
    private final Map<String, List<Double>> figures = new LinkedHashMap<>();

    public void add(Row row) {
        rows.add(row);
    }

    /** Adds a measured value. Several values of the same name are the values of several rounds. */
    public void figure(String name, double value) {
        figures.computeIfAbsent(name, n -> new ArrayList<>()).add(Math.round(value * 1000) / 1000.0);
    }

    public List<Row> rows() {
        return List.copyOf(rows);
    }

    public Map<String, List<Double>> figures() {
        return new LinkedHashMap<>(figures);
    }
}
