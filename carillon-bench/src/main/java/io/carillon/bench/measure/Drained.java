package io.carillon.bench.measure;

/** How a store of due jobs was emptied: seconds from the first handler's start until the last ending was durable. */
public record Drained(int jobs, double seconds, int missing, int twice, CpuMeter.Used cpu) {
    public double perSecond() {
        return jobs / seconds;
    }

    /** Fails a measurement in which a job was lost or ran twice: its speed would mean nothing. */
    public Drained verified(String who) {
        if (missing != 0 || twice != 0)
            throw new MeasureException(
                    "%s drained %d jobs, but %d did not run and %d ran twice.".formatted(who, jobs, missing, twice));
        return this;
    }
}
