package io.carillon.bench.workload;

import io.carillon.bench.report.Findings;

/** One thing to measure. It leaves nothing behind on the server. */
public interface Workload {
    /** As on the command line. */
    String name();

    /** What it measures, in one line. */
    String about();

    Findings run(Stage stage) throws Exception;
}
