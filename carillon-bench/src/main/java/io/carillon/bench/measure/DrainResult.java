package io.carillon.bench.measure;

/**
 * The result of a drain of due jobs.
 *
 * @param seconds the time from the start of the first handler until the last ending was durable
 */
public record DrainResult(int jobs, double seconds, int missing, int duplicates, CpuMeter.Used cpu) {
    public double perSecond() {
        return jobs / seconds;
    }

    /** Throws if a job was lost or ran twice: the speed is then meaningless. */
    public DrainResult requireComplete(String name) {
        if (missing != 0 || duplicates != 0)
            throw new MeasureException("%s drained %d jobs, but %d did not run and %d ran twice."
                    .formatted(name, jobs, missing, duplicates));
        return this;
    }
}
