package io.carillon.bench.workload;

import io.carillon.bench.child.NodeProcesses;
import io.carillon.bench.measure.DrainResult;
import io.carillon.bench.measure.Profile;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.bench.ours.DrainShape;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoublePredicate;

/**
 * Measures drains of runs that differ from those of {@link Drain} in one property: number of queues, concurrency keys,
 * payload size, duration of handlers; and the first drain of a new process.
 */
final class DrainShapes implements Workload {
    private static final String PLAIN = "one queue, 100 bytes";
    private static final String COLD = "cold: a new process";
    private static final Duration FIVE_MILLIS = Duration.ofMillis(5);
    /** Fifty handlers of 5 ms at a time. */
    private static final double POSSIBLE_WITH_FIVE_MILLIS = 10_000;

    @Override
    public String name() {
        return "shapes";
    }

    @Override
    public String about() {
        return "drains with many queues, keys, larger payloads, handlers of 5 ms, and of a cold process";
    }

    /** A shape and its bar. */
    private record Case(DrainShape shape, String bar, DoublePredicate met, boolean perBase) {
        static Case ofBase(DrainShape shape, double part) {
            return new Case(shape, ">= %.0f %% of one queue".formatted(part * 100), found -> found >= part, true);
        }

        static Case perSecond(DrainShape shape, double rate) {
            return new Case(shape, ">= %,.0f/s".formatted(rate), found -> found >= rate, false);
        }
    }

    private static List<Case> cases(Profile profile) {
        int many = profile.choose(2_000, 200_000, 500_000);
        int some = profile.choose(2_000, 100_000, 200_000);
        int few = profile.choose(500, 20_000, 50_000);
        return List.of(
                Case.ofBase(DrainShape.plain("200 queues", many).queues(200), 0.85),
                Case.ofBase(DrainShape.plain("2,000 queues", some).queues(2_000), 0.7),
                Case.ofBase(DrainShape.plain("payloads of 1 KiB", some).payloadBytes(1_024), 0.8),
                new Case(DrainShape.plain("payloads of 16 KiB", few).payloadBytes(16 * 1_024), "", found -> true, true),
                Case.perSecond(DrainShape.plain("1,000 concurrency keys", some).keys(1_000), 30_000),
                Case.perSecond(
                        DrainShape.plain("handlers of 5 ms", few).handler(FIVE_MILLIS),
                        0.9 * POSSIBLE_WITH_FIVE_MILLIS));
    }

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        Findings findings = new Findings();
        DrainShape plain = DrainShape.plain(PLAIN, context.profile().choose(2_000, 200_000, 500_000));
        List<Case> cases = cases(context.profile());
        Results results = new Results();
        for (int round = context.firstRound(); round <= context.rounds(); round++) {
            boolean counts = round > 0;
            measure(context, results, plain, counts);
            for (Case one : cases) measure(context, results, one.shape(), counts);
            if (counts) cold(context, results, plain);
        }
        double base = rate(results.of(PLAIN)).median();
        results.addFigures(findings);
        for (Case one : cases) {
            List<DrainResult> drained = results.of(one.shape().name());
            double found = rate(drained).median();
            findings.add(row(one, found, base)
                    .note(FigureText.rate(rate(drained)))
                    .note("CPU worker + database "
                            + drained.get(drained.size() - 1)
                                    .cpu()
                                    .each(one.shape().jobs())));
        }
        findings.add(Row.info(PLAIN, FigureText.rate(rate(results.of(PLAIN))), "warm"));
        findings.add(Row.info(
                COLD,
                FigureText.rate(rate(results.of(COLD))),
                FigureText.percent(rate(results.of(COLD)).median() / base) + " of warm"));
        return findings;
    }

    private static Row row(Case one, double found, double base) {
        if (one.bar().isEmpty()) return Row.info(one.shape().name(), FigureText.percent(found / base), "of one queue");
        return one.perBase()
                ? Row.judged(
                        one.shape().name(),
                        one.bar(),
                        FigureText.percent(found / base),
                        one.met().test(found / base))
                : Row.judged(
                        one.shape().name(),
                        one.bar(),
                        FigureText.rate(found),
                        one.met().test(found));
    }

    private static void measure(WorkloadContext context, Results results, DrainShape shape, boolean counts)
            throws Exception {
        context.progress().report(shape.name());
        try (BenchDatabase database = context.server().migrated()) {
            CarillonDrain.store(database, shape);
            DrainResult result = CarillonDrain.drain(database, shape).requireComplete(shape.name());
            if (counts) results.add(shape.name(), result);
        }
    }

    private static void cold(WorkloadContext context, Results results, DrainShape shape) throws Exception {
        context.progress().report(COLD);
        try (BenchDatabase database = context.server().migrated();
                NodeProcesses node = NodeProcesses.start(1)) {
            CarillonDrain.store(database, shape);
            results.add(COLD, node.drain(database, shape.jobs()).drainResult().requireComplete(COLD));
        }
    }

    /** The drains of each shape. */
    private static final class Results {
        private final Map<String, List<DrainResult>> drained = new LinkedHashMap<>();

        void add(String name, DrainResult result) {
            drained.computeIfAbsent(name, n -> new ArrayList<>()).add(result);
        }

        List<DrainResult> of(String name) {
            return drained.getOrDefault(name, List.of());
        }

        void addFigures(Findings findings) {
            drained.forEach((name, all) -> {
                for (DrainResult each : all) {
                    findings.figure(name + ", per second", each.perSecond());
                    findings.figure(
                            name + ", us of worker CPU per run", each.cpu().jvm() * 1e6 / each.jobs());
                    findings.figure(
                            name + ", us of database CPU per run", each.cpu().server() * 1e6 / each.jobs());
                }
            });
        }
    }

    private static Samples rate(List<DrainResult> drained) {
        return Samples.of(drained.stream().mapToDouble(DrainResult::perSecond).toArray());
    }
}
