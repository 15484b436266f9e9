package io.carillon.bench.workload;

import io.carillon.bench.measure.FireMeter;
import io.carillon.bench.measure.FirePlan;
import io.carillon.bench.measure.Firing;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.ours.OurFiring;
import io.carillon.bench.peer.Peer;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.Optional;

/** Many schedules, spread evenly: how late is the handler's start after the planned instant, and did each fire exactly once. */
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
    public Findings run(Stage stage) throws Exception {
        Findings findings = new Findings();
        FirePlan thousand = plan(
                stage,
                stage.profile().pick(100, 10_000, 10_000),
                stage.profile().pick(1, 10, 10));
        FireMeter.Fired slow = ours(stage, thousand);
        Samples late = slow.lateMillis();
        double p50 = median(slow, 50);
        double p99 = median(slow, 99);
        boolean all = slow.missing() == 0 && slow.twice() == 0;
        figures(findings, title(thousand), slow);
        findings.add(Row.judged(
                        title(thousand),
                        "all once, p50 <= 5 ms, p99 <= 25 ms",
                        measured(slow, p50, p99),
                        all && p50 <= 5 && p99 <= 25)
                .note(note(slow, late)));

        FirePlan more = plan(
                stage,
                stage.profile().pick(100, 100_000, 100_000),
                stage.profile().pick(1, 20, 20));
        FireMeter.Fired fast = ours(stage, more);
        p50 = median(fast, 50);
        p99 = median(fast, 99);
        all = fast.missing() == 0 && fast.twice() == 0;
        figures(findings, title(more), fast);
        findings.add(Row.judged(title(more), "all once, p99 <= 100 ms", measured(fast, p50, p99), all && p99 <= 100)
                .note(note(fast, fast.lateMillis())));
        for (Peer peer : stage.peers()) peer(stage, findings, peer, thousand);
        return findings;
    }

    private static FirePlan plan(Stage stage, int schedules, int seconds) {
        // The lead must be long enough to store the schedules and to plan two minutes ahead.
        int lead = stage.profile().pick(2, 8 + schedules / 2_500, 10 + schedules / 2_000);
        return new FirePlan(
                schedules,
                Duration.ofSeconds(seconds),
                Duration.ofSeconds(lead),
                Duration.ofSeconds(stage.profile().pick(0, 8, 15)),
                Duration.ofSeconds(stage.profile().pick(1, 30, 120)));
    }

    private static FireMeter.Fired ours(Stage stage, FirePlan plan) throws Exception {
        try (BenchDatabase database = stage.server().migrated()) {
            return measure(stage, database, "Carillon", plan, new OurFiring(database));
        }
    }

    private static FireMeter.Fired measure(
            Stage stage, BenchDatabase database, String who, FirePlan plan, Firing firing) throws Exception {
        try (Connection clock = database.connect()) {
            return new FireMeter(clock, database.serverPid(), stage.progress()).measure(who, plan, firing);
        }
    }

    private static void peer(Stage stage, Findings findings, Peer peer, FirePlan plan) throws Exception {
        try (BenchDatabase database = stage.server().empty()) {
            Optional<Firing> firing = peer.firing(database, plan.perSecond());
            if (firing.isEmpty()) {
                findings.add(Row.info(peer.name() + ", " + title(plan), "not run", "it is not made for this rate"));
                return;
            }
            FireMeter.Fired fired = measure(stage, database, peer.name(), plan, firing.get());
            figures(findings, peer.name() + ", " + title(plan), fired);
            findings.add(Row.info(
                    peer.name() + ", " + title(plan),
                    measured(fired, median(fired, 50), median(fired, 99)),
                    note(fired, fired.lateMillis())));
        }
    }

    /** The median of three parts of the window. */
    private static double median(FireMeter.Fired fired, double percent) {
        double[] parts = new double[PARTS];
        for (int i = 0; i < PARTS; i++) parts[i] = fired.lateMillis(i, PARTS).percentile(percent);
        return Samples.of(parts).median();
    }

    private static void figures(Findings findings, String title, FireMeter.Fired fired) {
        for (int i = 0; i < PARTS; i++) {
            Samples part = fired.lateMillis(i, PARTS);
            findings.figure(title + ", p50 ms", part.percentile(50));
            findings.figure(title + ", p95 ms", part.percentile(95));
            findings.figure(title + ", p99 ms", part.percentile(99));
            findings.figure(title + ", max ms", part.most());
        }
        findings.figure(title + ", missing", fired.missing());
        findings.figure(title + ", twice", fired.twice());
        findings.figure(title + ", us of CPU per fire", fired.cpu().both() * 1e6 / fired.fires());
    }

    private static String title(FirePlan plan) {
        return "%,d schedules at %s".formatted(plan.schedules(), Text.rate(plan.perSecond()));
    }

    private static String measured(FireMeter.Fired fired, double p50, double p99) {
        String all = fired.missing() == 0 && fired.twice() == 0
                ? "all once"
                : "%d missing, %d twice of %d".formatted(fired.missing(), fired.twice(), fired.fires());
        return "%s, p50 %s, p99 %s".formatted(all, Text.millis(p50), Text.millis(p99));
    }

    private static String note(FireMeter.Fired fired, Samples late) {
        return "max %s, CPU worker + database %s, clock to %.2f ms"
                .formatted(
                        Text.millis(late.most()),
                        fired.cpu().each(fired.fires()),
                        fired.clockError().toNanos() / 1e6);
    }
}
