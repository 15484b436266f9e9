package io.carillon.bench.workload;

import io.carillon.bench.measure.Drained;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.ours.OurDrain;
import io.carillon.bench.peer.Peer;
import io.carillon.bench.peer.Peers;
import io.carillon.bench.raw.RawCopy;
import io.carillon.bench.raw.RawCycle;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Due runs that do nothing are stored already; how fast are they emptied: by plain SQL, one node, two node processes, and the peers. */
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
    public Findings run(Stage stage) throws Exception {
        int jobs = stage.profile().pick(2_000, 200_000, 500_000);
        Findings findings = new Findings();
        Map<String, List<Drained>> rounds = new LinkedHashMap<>();
        List<Double> shares = new ArrayList<>();
        try (TwoNodes two = TwoNodes.start()) {
            if (stage.profile() != Profile.SMOKE) warmUp(stage, two);
            for (int round = 0; round < stage.rounds(); round++) {
                stage.progress().say("round %d: plain SQL".formatted(round + 1));
                add(rounds, findings, RAW, raw(stage, jobs));
                stage.progress().say("round %d: one node".formatted(round + 1));
                add(rounds, findings, ONE, one(stage, jobs));
                stage.progress().say("round %d: two nodes".formatted(round + 1));
                TwoNodes.Split split = two(stage, two, jobs);
                add(rounds, findings, TWO, split.drained());
                shares.add(split.share());
                findings.figure("2 nodes, share of the first", split.share());
                for (Peer peer : stage.peers()) {
                    stage.progress().say("round %d: %s".formatted(round + 1, peer.name()));
                    add(rounds, findings, peer.name(), peer(stage, peer));
                }
            }
        }
        rows(stage, findings, rounds, shares);
        return findings;
    }

    /** Until the compilers are done: after fewer runs each round is still faster than the one before. The two processes share theirs, so they get more. */
    private static void warmUp(Stage stage, TwoNodes two) throws Exception {
        stage.progress().say("warming up");
        raw(stage, WARM_UP);
        one(stage, 2 * WARM_UP);
        two(stage, two, 3 * WARM_UP);
    }

    private static void add(Map<String, List<Drained>> rounds, Findings findings, String who, Drained drained) {
        rounds.computeIfAbsent(who, w -> new ArrayList<>()).add(drained.verified(who));
        findings.figure(who + ", per second", drained.perSecond());
        findings.figure(who + ", us of worker CPU per run", drained.cpu().jvm() * 1e6 / drained.jobs());
        findings.figure(who + ", us of database CPU per run", drained.cpu().server() * 1e6 / drained.jobs());
    }

    private static Drained raw(Stage stage, int jobs) throws Exception {
        try (BenchDatabase database = stage.server().migrated()) {
            RawCopy.store(database, jobs);
            database.settle();
            return RawCycle.drain(database, jobs);
        }
    }

    private static Drained one(Stage stage, int jobs) throws Exception {
        try (BenchDatabase database = stage.server().migrated()) {
            OurDrain.store(database, jobs);
            return OurDrain.drain(database, jobs);
        }
    }

    private static TwoNodes.Split two(Stage stage, TwoNodes two, int jobs) throws Exception {
        try (BenchDatabase database = stage.server().migrated()) {
            OurDrain.store(database, jobs);
            return two.drain(database, jobs);
        }
    }

    private static Drained peer(Stage stage, Peer peer) throws Exception {
        int jobs = Math.max(100, peer.expectedPerSecond() * stage.profile().pick(0, 6, 15));
        try (BenchDatabase database = stage.server().empty()) {
            return peer.drain(database, jobs);
        }
    }

    private static void rows(Stage stage, Findings findings, Map<String, List<Drained>> rounds, List<Double> shares) {
        Samples one = rate(rounds, ONE);
        Samples raw = rate(rounds, RAW);
        if (rounds.containsKey(Peers.DB_SCHEDULER)) {
            double factor = one.median() / rate(rounds, Peers.DB_SCHEDULER).median();
            findings.add(
                    Row.judged("1 node against db-scheduler", ">= 12x, goal 15x", Text.times(factor), factor >= 12));
        }
        double ofRaw = one.median() / raw.median();
        findings.add(Row.judged("1 node against R", ">= 60 %", Text.percent(ofRaw), ofRaw >= 0.6));
        double ofOne = rate(rounds, TWO).median() / one.median();
        findings.add(Row.judged("2 nodes against 1", ">= 85 %", Text.percent(ofOne), ofOne >= 0.85));
        Samples share = Samples.of(shares);
        boolean even = share.least() >= 0.3 && share.most() <= 0.7;
        findings.add(Row.judged(
                "2 nodes, share of the first",
                "30-70 %",
                Text.percent(share.least()) + " to " + Text.percent(share.most()),
                even));
        rounds.forEach((who, drained) -> {
            Drained last = drained.get(drained.size() - 1);
            findings.add(Row.info(
                    who,
                    Text.rate(rate(rounds, who)),
                    "CPU worker + database " + last.cpu().each(last.jobs())));
        });
        stage.peers().forEach(peer -> findings.add(Row.info(peer.name() + " settings", peer.settings(), "")));
    }

    private static Samples rate(Map<String, List<Drained>> rounds, String who) {
        List<Drained> drained = rounds.getOrDefault(who, List.of());
        return Samples.of(drained.stream().mapToDouble(Drained::perSecond).toArray());
    }
}
