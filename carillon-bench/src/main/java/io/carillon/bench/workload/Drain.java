package io.carillon.bench.workload;

import io.carillon.bench.child.NodeProcesses;
import io.carillon.bench.measure.DrainResult;
import io.carillon.bench.measure.Profile;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.bench.peer.Peer;
import io.carillon.bench.peer.Peers;
import io.carillon.bench.raw.RawCopy;
import io.carillon.bench.raw.RawCycle;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures how fast stored due runs that do nothing are drained: by plain SQL, one node, two node processes,
 * and the peers.
 */
final class Drain implements Workload {
    private static final int WARM_UP = 200_000;
    private static final String RAW = "R (plain SQL)";
    private static final String ONE = "1 node";
    private static final String TWO = "2 nodes";

    @Override
    public String name() {
        return "drain";
    }

    @Override
    public String about() {
        return "due runs that do nothing, already stored: runs per second";
    }

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        int jobs = context.profile().choose(2_000, 200_000, 500_000);
        Findings findings = new Findings();
        Map<String, List<DrainResult>> rounds = new LinkedHashMap<>();
        List<Double> shares = new ArrayList<>();
        try (NodeProcesses two = NodeProcesses.start(2)) {
            if (context.profile() != Profile.SMOKE) warmUp(context, two);
            for (int round = 0; round < context.rounds(); round++) {
                context.progress().report("round %d: plain SQL".formatted(round + 1));
                add(rounds, findings, RAW, raw(context, jobs));
                context.progress().report("round %d: one node".formatted(round + 1));
                add(rounds, findings, ONE, one(context, jobs));
                context.progress().report("round %d: two nodes".formatted(round + 1));
                NodeProcesses.Split split = two(context, two, jobs);
                add(rounds, findings, TWO, split.drainResult());
                shares.add(split.share());
                findings.figure("2 nodes, share of the first", split.share());
                for (Peer peer : context.peers()) {
                    context.progress().report("round %d: %s".formatted(round + 1, peer.name()));
                    add(rounds, findings, peer.name(), peer(context, peer));
                }
            }
        }
        rows(context, findings, rounds, shares);
        return findings;
    }

    /**
     * Warms up until the compilers are done: after fewer runs, each round is still faster than the one before. The two
     * processes share the runs, so they get more.
     */
    private static void warmUp(WorkloadContext context, NodeProcesses two) throws Exception {
        context.progress().report("warming up");
        raw(context, WARM_UP);
        one(context, 2 * WARM_UP);
        two(context, two, 3 * WARM_UP);
    }

    private static void add(
            Map<String, List<DrainResult>> rounds, Findings findings, String name, DrainResult drainResult) {
        rounds.computeIfAbsent(name, w -> new ArrayList<>()).add(drainResult.requireComplete(name));
        findings.figure(name + ", per second", drainResult.perSecond());
        findings.figure(name + ", us of worker CPU per run", drainResult.cpu().jvm() * 1e6 / drainResult.jobs());
        findings.figure(name + ", us of database CPU per run", drainResult.cpu().server() * 1e6 / drainResult.jobs());
    }

    private static DrainResult raw(WorkloadContext context, int jobs) throws Exception {
        try (BenchDatabase database = context.server().migrated()) {
            RawCopy.store(database, jobs);
            database.analyzeAndCheckpoint();
            return RawCycle.drain(database, jobs);
        }
    }

    private static DrainResult one(WorkloadContext context, int jobs) throws Exception {
        try (BenchDatabase database = context.server().migrated()) {
            CarillonDrain.store(database, jobs);
            return CarillonDrain.drain(database, jobs);
        }
    }

    private static NodeProcesses.Split two(WorkloadContext context, NodeProcesses two, int jobs) throws Exception {
        try (BenchDatabase database = context.server().migrated()) {
            CarillonDrain.store(database, jobs);
            return two.drain(database, jobs);
        }
    }

    private static DrainResult peer(WorkloadContext context, Peer peer) throws Exception {
        int jobs = Math.max(100, peer.expectedPerSecond() * context.profile().choose(0, 6, 15));
        try (BenchDatabase database = context.server().empty()) {
            return peer.drain(database, jobs);
        }
    }

    private static void rows(
            WorkloadContext context, Findings findings, Map<String, List<DrainResult>> rounds, List<Double> shares) {
        Samples one = rate(rounds, ONE);
        Samples raw = rate(rounds, RAW);
        if (rounds.containsKey(Peers.DB_SCHEDULER)) {
            double factor = one.median() / rate(rounds, Peers.DB_SCHEDULER).median();
            findings.add(Row.judged(
                    "1 node against db-scheduler", ">= 12x, goal 15x", FigureText.factor(factor), factor >= 12));
        }
        double ofRaw = one.median() / raw.median();
        findings.add(Row.judged("1 node against R", ">= 60 %", FigureText.percent(ofRaw), ofRaw >= 0.6));
        double ofOne = rate(rounds, TWO).median() / one.median();
        findings.add(Row.judged("2 nodes against 1", ">= 85 %", FigureText.percent(ofOne), ofOne >= 0.85));
        Samples share = Samples.of(shares);
        boolean even = share.min() >= 0.3 && share.max() <= 0.7;
        findings.add(Row.judged(
                "2 nodes, share of the first",
                "30-70 %",
                FigureText.percent(share.min()) + " to " + FigureText.percent(share.max()),
                even));
        rounds.forEach((name, drained) -> {
            DrainResult last = drained.get(drained.size() - 1);
            findings.add(Row.info(
                    name,
                    FigureText.rate(rate(rounds, name)),
                    "CPU worker + database " + last.cpu().each(last.jobs())));
        });
        context.peers().forEach(peer -> findings.add(Row.info(peer.name() + " settings", peer.settings(), "")));
    }

    private static Samples rate(Map<String, List<DrainResult>> rounds, String name) {
        List<DrainResult> drained = rounds.getOrDefault(name, List.of());
        return Samples.of(drained.stream().mapToDouble(DrainResult::perSecond).toArray());
    }
}
