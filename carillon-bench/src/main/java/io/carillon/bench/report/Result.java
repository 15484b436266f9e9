package io.carillon.bench.report;

import java.util.List;
import java.util.Map;

/** One run of one workload, as it is kept. */
public record Result(
        String workload,
        String startedAt,
        double seconds,
        Circumstances circumstances,
        List<Row> rows,
        Map<String, List<Double>> figures) {
    /** Whether it answers for the same code under the same conditions; times and sizes of the machine do not matter. */
    public boolean answersFor(String name, Circumstances now) {
        return workload.equals(name)
                && !now.commit().equals("unknown")
                && circumstances.commit().equals(now.commit())
                && circumstances.profile().equals(now.profile())
                && circumstances.peers().equals(now.peers());
    }
}
