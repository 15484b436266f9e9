package io.carillon.bench.workload;

import java.util.List;

/** All workloads, in the order of the table. */
public final class Workloads {
    private Workloads() {}

    public static List<Workload> all() {
        return List.of(
                new Drain(),
                new EnqueueRates(),
                new RestEnqueue(),
                new Fire(),
                new Herd(),
                new Pickup(),
                new NoisyNeighbour(),
                new Idle(),
                new ScheduleScale(),
                new ScaleOut(),
                new Mixed(),
                new Pinned(),
                new ManyNodes(),
                new Memory());
    }

    public static List<String> names() {
        return all().stream().map(Workload::name).toList();
    }
}
