package io.carillon.bench.workload;

import io.carillon.bench.measure.Drained;
import io.carillon.bench.measure.FireMeter;
import io.carillon.bench.measure.FirePlan;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.ours.OurDrain;
import io.carillon.bench.ours.OurFiring;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.OldTransaction;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** An old transaction is held open, so that no dead row may be removed: does the work go on as before. */
final class Pinned implements Workload {
    @Override
    public String name() {
        return "pinned";
    }

    @Override
    public String about() {
        return "with an old transaction held open: lateness at 300 fires per second, and a drain";
    }

    @Override
    public Findings run(Stage stage) throws Exception {
        Findings findings = new Findings();
        fires(stage, findings);
        drains(stage, findings);
        return findings;
    }

    private static void fires(Stage stage, Findings findings) throws Exception {
        Profile profile = stage.profile();
        FirePlan plan = new FirePlan(
                profile.pick(100, 3_125, 3_125),
                Duration.ofSeconds(profile.pick(1, 10, 10)),
                Duration.ofSeconds(profile.pick(2, 8, 10)),
                Duration.ofSeconds(profile.pick(0, 5, 30)),
                Duration.ofSeconds(profile.pick(1, 30, 600)));
        Samples free = fire(stage, plan, false).lateMillis();
        FireMeter.Fired pinned = fire(stage, plan, true);
        Samples late = pinned.lateMillis();
        double factor = late.percentile(99) / free.percentile(99);
        findings.figure("p99 ms, unpinned", free.percentile(99));
        findings.figure("p99 ms, pinned", late.percentile(99));
        boolean once = pinned.missing() == 0 && pinned.twice() == 0;
        findings.add(Row.judged(
                        "%.0f fires/s for %d s"
                                .formatted(plan.perSecond(), plan.window().toSeconds()),
                        "all once, p99 <= 2x unpinned",
                        "%s, p99 %s, unpinned %s (%.1fx)"
                                .formatted(
                                        once ? "all once" : "NOT all once",
                                        Text.millis(late.percentile(99)),
                                        Text.millis(free.percentile(99)),
                                        factor),
                        once && factor <= 2)
                .note(profile == Profile.FULL ? "" : "miniature: the bar means 10 minutes"));
    }

    private static FireMeter.Fired fire(Stage stage, FirePlan plan, boolean pinned) throws Exception {
        try (BenchDatabase database = stage.server().migrated();
                OldTransaction old = new OldTransaction(database);
                Connection clock = database.connect()) {
            if (pinned) old.open();
            // In the miniature: what ten minutes of fires would leave behind.
            int before = stage.profile().pick(500, 190_000, 0);
            if (before > 0) {
                OurDrain.store(database, before);
                OurDrain.drain(database, before).verified("Carillon");
            }
            FireMeter meter = new FireMeter(clock, database.serverPid(), stage.progress());
            return meter.measure(pinned ? "pinned" : "unpinned", plan, new OurFiring(database));
        }
    }

    private static void drains(Stage stage, Findings findings) throws Exception {
        int jobs = stage.profile().pick(2_000, 200_000, 2_000_000);
        List<Double> free = new ArrayList<>();
        List<Double> held = new ArrayList<>();
        for (int round = 0; round < stage.profile().pick(1, 2, 1); round++) {
            stage.progress().say("drain of %,d, unpinned".formatted(jobs));
            free.add(drain(stage, jobs, false).perSecond());
            stage.progress().say("drain of %,d, pinned".formatted(jobs));
            held.add(drain(stage, jobs, true).perSecond());
        }
        free.forEach(rate -> findings.figure("drain per second, unpinned", rate));
        held.forEach(rate -> findings.figure("drain per second, pinned", rate));
        double part = Samples.of(held).median() / Samples.of(free).median();
        findings.add(Row.judged(
                        "drain of %,d".formatted(jobs),
                        ">= 80 % of unpinned",
                        "%s: %s against %s"
                                .formatted(
                                        Text.percent(part),
                                        Text.rate(Samples.of(held).median()),
                                        Text.rate(Samples.of(free).median())),
                        part >= 0.8)
                .note(stage.profile() == Profile.FULL ? "" : "miniature: the bar means 2 M runs"));
    }

    private static Drained drain(Stage stage, int jobs, boolean pinned) throws Exception {
        try (BenchDatabase database = stage.server().migrated();
                OldTransaction old = new OldTransaction(database)) {
            if (pinned) old.open();
            OurDrain.store(database, jobs);
            return OurDrain.drain(database, jobs).verified("Carillon");
        }
    }
}
