package io.carillon.bench.workload;

import io.carillon.bench.measure.FireMeter;
import io.carillon.bench.measure.FirePlan;
import io.carillon.bench.measure.FiringScheduler;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.ours.CarillonFiring;
import io.carillon.bench.peer.Peer;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.Optional;

/**
 * Measures the lateness of many evenly spread schedules, from planned instant to handler start, and whether each
 * instant fires exactly once.
 */
final class Fire implements Workload {
    private static final int PARTS = 3;

    @Override
    public String name() {
        return "fire";
    }

    @Override
    public String about() {
        return "schedules at a rate, spread evenly: lateness from planned instant to handler start";
    }

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        Findings findings = new Findings();
        FirePlan thousand = plan(
                context,
                context.profile().choose(100, 10_000, 10_000),
                context.profile().choose(1, 10, 10));
        FireMeter.FireResult slow = measureCarillon(context, thousand);
        Samples late = slow.lateMillis();
        double p50 = median(slow, 50);
        double p99 = median(slow, 99);
        boolean all = slow.missing() == 0 && slow.duplicates() == 0;
        figures(findings, title(thousand), slow);
        findings.add(Row.judged(
                        title(thousand),
                        "all once, p50 <= 5 ms, p99 <= 25 ms",
                        measured(slow, p50, p99),
                        all && p50 <= 5 && p99 <= 25)
                .note(note(slow, late)));

        FirePlan more = plan(
                context,
                context.profile().choose(100, 100_000, 100_000),
                context.profile().choose(1, 20, 20));
        FireMeter.FireResult fast = measureCarillon(context, more);
        p50 = median(fast, 50);
        p99 = median(fast, 99);
        all = fast.missing() == 0 && fast.duplicates() == 0;
        figures(findings, title(more), fast);
        findings.add(Row.judged(title(more), "all once, p99 <= 100 ms", measured(fast, p50, p99), all && p99 <= 100)
                .note(note(fast, fast.lateMillis())));
        for (Peer peer : context.peers()) measurePeer(context, findings, peer, thousand);
        return findings;
    }

    /** Returns the plan of schedules at this period in seconds. */
    static FirePlan plan(WorkloadContext context, int schedules, int seconds) {
        // The lead must suffice to store the schedules and to plan two minutes ahead.
        int lead = context.profile().choose(2, 8 + schedules / 2_500, 10 + schedules / 2_000);
        return new FirePlan(
                schedules,
                Duration.ofSeconds(seconds),
                Duration.ofSeconds(lead),
                Duration.ofSeconds(context.profile().choose(0, 8, 15)),
                Duration.ofSeconds(context.profile().choose(1, 30, 120)));
    }

    private static FireMeter.FireResult measureCarillon(WorkloadContext context, FirePlan plan) throws Exception {
        try (BenchDatabase database = context.server().migrated()) {
            return measure(context, database, "Carillon", plan, new CarillonFiring(database));
        }
    }

    private static FireMeter.FireResult measure(
            WorkloadContext context,
            BenchDatabase database,
            String name,
            FirePlan plan,
            FiringScheduler firingScheduler)
            throws Exception {
        try (Connection clock = database.connect()) {
            return new FireMeter(clock, database.serverPid(), context.progress()).measure(name, plan, firingScheduler);
        }
    }

    private static void measurePeer(WorkloadContext context, Findings findings, Peer peer, FirePlan plan)
            throws Exception {
        try (BenchDatabase database = context.server().empty()) {
            Optional<FiringScheduler> firing = peer.firing(database, plan.perSecond());
            if (firing.isEmpty()) {
                findings.add(Row.info(peer.name() + ", " + title(plan), "not run", "does not support this rate"));
                return;
            }
            FireMeter.FireResult fireResult = measure(context, database, peer.name(), plan, firing.get());
            figures(findings, peer.name() + ", " + title(plan), fireResult);
            findings.add(Row.info(
                    peer.name() + ", " + title(plan),
                    measured(fireResult, median(fireResult, 50), median(fireResult, 99)),
                    note(fireResult, fireResult.lateMillis())));
        }
    }

    /** Returns the median over three parts of the window. */
    static double median(FireMeter.FireResult fireResult, double percent) {
        double[] parts = new double[PARTS];
        for (int i = 0; i < PARTS; i++)
            parts[i] = fireResult.lateMillis(i, PARTS).percentile(percent);
        return Samples.of(parts).median();
    }

    static void figures(Findings findings, String title, FireMeter.FireResult fireResult) {
        for (int i = 0; i < PARTS; i++) {
            Samples part = fireResult.lateMillis(i, PARTS);
            findings.figure(title + ", p50 ms", part.percentile(50));
            findings.figure(title + ", p95 ms", part.percentile(95));
            findings.figure(title + ", p99 ms", part.percentile(99));
            findings.figure(title + ", max ms", part.max());
        }
        findings.figure(title + ", missing", fireResult.missing());
        findings.figure(title + ", twice", fireResult.duplicates());
        findings.figure(title + ", us of CPU per fire", fireResult.cpu().both() * 1e6 / fireResult.fires());
    }

    private static String title(FirePlan plan) {
        return "%,d schedules at %s".formatted(plan.schedules(), FigureText.rate(plan.perSecond()));
    }

    static String measured(FireMeter.FireResult fireResult, double p50, double p99) {
        String all = fireResult.missing() == 0 && fireResult.duplicates() == 0
                ? "all once"
                : "%d missing, %d twice of %d"
                        .formatted(fireResult.missing(), fireResult.duplicates(), fireResult.fires());
        return "%s, p50 %s, p99 %s".formatted(all, FigureText.millis(p50), FigureText.millis(p99));
    }

    private static String note(FireMeter.FireResult fireResult, Samples late) {
        return "max %s, CPU worker + database %s, clock to %.2f ms"
                .formatted(
                        FigureText.millis(late.max()),
                        fireResult.cpu().each(fireResult.fires()),
                        fireResult.clockError().toNanos() / 1e6);
    }
}
