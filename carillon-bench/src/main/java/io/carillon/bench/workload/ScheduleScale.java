package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.FirePlan;
import io.carillon.bench.measure.Profile;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.measure.ServerTime;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.bench.ours.CarillonSchedules;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures whether a fire costs more CPU time when more schedules are stored: the same thousand schedules fire at the
 * same rate beside ever more others.
 */
final class ScheduleScale implements Workload {
    private static final double MAX_COST_RATIO = 1.2;

    @Override
    public String name() {
        return "scale";
    }

    @Override
    public String about() {
        return "CPU per fire with 1 k to 1 M schedules stored, 500 fires per second";
    }

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        Profile profile = context.profile();
        int active = profile.choose(100, 1_000, 1_000);
        List<Integer> sizes = profile == Profile.SMOKE
                ? List.of(active, 1_000)
                : profile == Profile.QUICK
                        ? List.of(active, 100_000, 1_000_000)
                        : List.of(active, 10_000, 100_000, 1_000_000);
        FirePlan plan = new FirePlan(
                active,
                Duration.ofSeconds(2),
                Duration.ofSeconds(profile.choose(2, 5, 5)),
                Duration.ofSeconds(profile.choose(1, 20, 30)),
                Duration.ofSeconds(profile.choose(1, 7, 20)));
        Map<Integer, Samples> costs = new LinkedHashMap<>();
        Findings findings = new Findings();
        AtomicLong fired = new AtomicLong();
        try (BenchDatabase database = context.server().migrated();
                HikariDataSource pool = database.pool(CarillonDrain.POOL);
                Carillon client = Carillon.on(pool)
                        .handle(BenchPayload.TYPE, (benchPayload, run) -> {})
                        .build()) {
            CarillonSchedules.store(
                    database,
                    client,
                    CarillonSchedules.Copies.of(plan, now(database).plus(plan.lead())));
            Carillon node = Carillon.on(pool)
                    .handle(BenchPayload.TYPE, (benchPayload, run) -> fired.incrementAndGet())
                    .start();
            try (node) {
                int stored = active;
                Waiting.sleep(plan.lead().plus(plan.warm()));
                for (int size : sizes) {
                    if (size > stored) {
                        context.progress().report("storing up to %,d schedules".formatted(size));
                        CarillonSchedules.store(
                                database,
                                client,
                                CarillonSchedules.Copies.dormant("d" + size + "-", size - stored, now(database)));
                        stored = size;
                        database.vacuum();
                        Waiting.sleep(plan.lead());
                    }
                    context.progress().report("%,d schedules".formatted(size));
                    costs.put(size, cost(context, database, plan, fired));
                }
            }
        }
        rows(findings, costs);
        return findings;
    }

    /** Returns the microseconds of CPU time per fire, of node and database together; one value per window. */
    private static Samples cost(WorkloadContext context, BenchDatabase database, FirePlan plan, AtomicLong fired) {
        List<Double> costs = new ArrayList<>();
        for (int i = 0; i < context.rounds(); i++) {
            long before = fired.get();
            CpuMeter cpu = CpuMeter.start(database.serverPid());
            Waiting.sleep(plan.window());
            costs.add(cpu.used().both() * 1e6 / Math.max(1, fired.get() - before));
        }
        return Samples.of(costs);
    }

    private static Instant now(BenchDatabase database) throws SQLException {
        try (Connection clock = database.connect()) {
            return ServerTime.on(clock).now();
        }
    }

    private static void rows(Findings findings, Map<Integer, Samples> costs) {
        List<Integer> sizes = List.copyOf(costs.keySet());
        int least = sizes.get(0);
        int most = sizes.get(sizes.size() - 1);
        costs.forEach((size, cost) -> {
            findings.figure("%d schedules, us of CPU per fire".formatted(size), cost.median());
            findings.add(Row.info("%,d schedules".formatted(size), "%.0f us per fire".formatted(cost.median()), ""));
        });
        double factor = median(costs, most) / median(costs, least);
        findings.add(Row.judged(
                        "cost per fire, %,d against %,d".formatted(most, least),
                        "within 20 %",
                        "%+.0f %%".formatted((factor - 1) * 100),
                        factor <= MAX_COST_RATIO)
                .note("the same 1,000 schedules fire, the others wait"));
    }

    private static double median(Map<Integer, Samples> costs, int size) {
        Samples samples = costs.get(size);
        if (samples == null) throw new IllegalStateException("No cost was measured for size " + size);
        return samples.median();
    }
}
