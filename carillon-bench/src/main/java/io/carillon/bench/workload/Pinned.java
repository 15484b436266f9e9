package io.carillon.bench.workload;

import io.carillon.bench.measure.DrainResult;
import io.carillon.bench.measure.FireMeter;
import io.carillon.bench.measure.FirePlan;
import io.carillon.bench.measure.Profile;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.bench.ours.CarillonFiring;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.OldTransaction;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Measures the effect of an old open transaction, which keeps PostgreSQL from removing dead rows. */
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
    public Findings run(WorkloadContext context) throws Exception {
        Findings findings = new Findings();
        fires(context, findings);
        drains(context, findings);
        return findings;
    }

    private static void fires(WorkloadContext context, Findings findings) throws Exception {
        Profile profile = context.profile();
        FirePlan plan = new FirePlan(
                profile.choose(100, 3_125, 3_125),
                Duration.ofSeconds(profile.choose(1, 10, 10)),
                Duration.ofSeconds(profile.choose(2, 8, 10)),
                Duration.ofSeconds(profile.choose(0, 5, 30)),
                Duration.ofSeconds(profile.choose(1, 30, 600)));
        Samples free = fire(context, plan, false).lateMillis();
        FireMeter.FireResult pinned = fire(context, plan, true);
        Samples late = pinned.lateMillis();
        double factor = late.percentile(99) / free.percentile(99);
        findings.figure("p99 ms, unpinned", free.percentile(99));
        findings.figure("p99 ms, pinned", late.percentile(99));
        boolean once = pinned.missing() == 0 && pinned.duplicates() == 0;
        findings.add(Row.judged(
                        "%.0f fires/s for %d s"
                                .formatted(plan.perSecond(), plan.window().toSeconds()),
                        "all once, p99 <= 2x unpinned",
                        "%s, p99 %s, unpinned %s (%.1fx)"
                                .formatted(
                                        once ? "all once" : "NOT all once",
                                        FigureText.millis(late.percentile(99)),
                                        FigureText.millis(free.percentile(99)),
                                        factor),
                        once && factor <= 2)
                .note(profile == Profile.FULL ? "" : "shortened: the bar applies to 10 minutes"));
    }

    private static FireMeter.FireResult fire(WorkloadContext context, FirePlan plan, boolean pinned) throws Exception {
        try (BenchDatabase database = context.server().migrated();
                OldTransaction old = new OldTransaction(database);
                Connection clock = database.connect()) {
            if (pinned) old.open();
            // In the shortened profile, a drain leaves as many dead rows as ten minutes of fires.
            int before = context.profile().choose(500, 190_000, 0);
            if (before > 0) {
                CarillonDrain.store(database, before);
                CarillonDrain.drain(database, before).requireComplete("Carillon");
            }
            FireMeter meter = new FireMeter(clock, database.serverPid(), context.progress());
            return meter.measure(pinned ? "pinned" : "unpinned", plan, new CarillonFiring(database));
        }
    }

    private static void drains(WorkloadContext context, Findings findings) throws Exception {
        int jobs = context.profile().choose(2_000, 200_000, 2_000_000);
        List<Double> free = new ArrayList<>();
        List<Double> held = new ArrayList<>();
        for (int round = 0; round < context.profile().choose(1, 2, 1); round++) {
            context.progress().report("drain of %,d, unpinned".formatted(jobs));
            free.add(drain(context, jobs, false).perSecond());
            context.progress().report("drain of %,d, pinned".formatted(jobs));
            held.add(drain(context, jobs, true).perSecond());
        }
        free.forEach(rate -> findings.figure("drain per second, unpinned", rate));
        held.forEach(rate -> findings.figure("drain per second, pinned", rate));
        double part = Samples.of(held).median() / Samples.of(free).median();
        findings.add(Row.judged(
                        "drain of %,d".formatted(jobs),
                        ">= 80 % of unpinned",
                        "%s: %s against %s"
                                .formatted(
                                        FigureText.percent(part),
                                        FigureText.rate(Samples.of(held).median()),
                                        FigureText.rate(Samples.of(free).median())),
                        part >= 0.8)
                .note(context.profile() == Profile.FULL ? "" : "shortened: the bar applies to 2 M runs"));
    }

    private static DrainResult drain(WorkloadContext context, int jobs, boolean pinned) throws Exception {
        try (BenchDatabase database = context.server().migrated();
                OldTransaction old = new OldTransaction(database)) {
            if (pinned) old.open();
            CarillonDrain.store(database, jobs);
            return CarillonDrain.drain(database, jobs).requireComplete("Carillon");
        }
    }
}
