package io.carillon.bench.report;

import java.util.List;
import java.util.Map;

/** The stored result of one execution of a workload. */
public record Result(
        String workload,
        String startedAt,
        double seconds,
        BenchEnvironment circumstances,
        List<Row> rows,
        Map<String, List<Double>> figures) {
    /**
     * Returns whether the result is for this workload, the same code, the same profile and the same peers. The machine
     * is not compared.
     */
    public boolean answersFor(String name, BenchEnvironment now) {
        return workload.equals(name)
                && !now.commit().equals("unknown")
                && circumstances.commit().equals(now.commit())
                && circumstances.profile().equals(now.profile())
                && circumstances.peers().equals(now.peers());
    }
}
