package io.carillon.bench.workload;

import io.carillon.bench.report.Findings;

/** A workload of the benchmark. It removes its databases from the server. */
public interface Workload {
    /** Returns the name on the command line. */
    String name();

    /** Returns a description in one line. */
    String about();

    Findings run(WorkloadContext workloadContext) throws Exception;
}
