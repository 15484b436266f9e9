package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.child.ChildProcess;
import io.carillon.bench.child.Role;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Profile;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.measure.ServerTime;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.bench.peer.Peer;
import io.carillon.bench.raw.RawPickup;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLongArray;

/** Measures how fast an idle node picks up single runs, from the return of the enqueue to the start of the handler. */
final class Pickup implements Workload {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    @Override
    public String name() {
        return "pickup";
    }

    @Override
    public String about() {
        return "an idle node, one run at a time: from the return of the enqueue to the handler's start";
    }

    /** The times of the call and of the return of an enqueue, on the clock of the database. */
    private record Enqueued(long called, long returned) {}

    private interface Enqueuer {
        Enqueued enqueue(int number);
    }

    private record Latencies(Samples afterReturn, Samples afterCall) {}

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        int runs = context.profile().choose(5, 150, 500);
        int warm = context.profile().choose(2, 150, 150);
        Findings findings = new Findings();
        try (BenchDatabase database = context.server().migrated();
                HikariDataSource pool = database.pool(CarillonDrain.POOL);
                BenchDatabase plainTables = context.server().migrated();
                Connection clock = database.connect();
                ChildProcess childProcess = ChildProcess.start(Role.ENQUEUER);
                ChildProcess plainChild = ChildProcess.start(Role.ENQUEUER)) {
            database.analyzeAndCheckpoint();
            plainTables.analyzeAndCheckpoint();
            ServerTime time = ServerTime.on(clock);
            AtomicLongArray started = new AtomicLongArray(3 * warm + 3 * context.rounds() * runs);
            try (RawPickup base = RawPickup.start(plainTables, number -> started.set(number, time.nanos()));
                    Carillon node = Carillon.on(pool)
                            .handle(
                                    BenchPayload.TYPE,
                                    (benchPayload, run) -> started.set(benchPayload.number(), time.nanos()))
                            .start()) {
                open(childProcess, database.address());
                open(plainChild, plainTables.address());
                Enqueuer remote = number -> enqueueInChild(childProcess, "enqueue", number);
                Enqueuer plain = number -> {
                    if (!base.isListening()) throw new MeasureException("The plain SQL listener has stopped.");
                    return enqueueInChild(plainChild, "insert", number);
                };
                Enqueuer local = number -> {
                    long called = time.nanos();
                    node.enqueue(BenchPayload.TYPE, BenchPayload.of(number));
                    return new Enqueued(called, time.nanos());
                };
                Meter meter = new Meter(started, context.profile());
                context.progress().report("warming up");
                meter.measure(plain, warm);
                meter.measure(remote, warm);
                meter.measure(local, warm);
                List<Latencies> plains = new ArrayList<>();
                List<Latencies> remotes = new ArrayList<>();
                List<Latencies> locals = new ArrayList<>();
                for (int round = 0; round < context.rounds(); round++) {
                    context.progress().report("round %d of %d".formatted(round + 1, context.rounds()));
                    time.refresh(clock);
                    plains.add(meter.measure(plain, runs));
                    remotes.add(meter.measure(remote, runs));
                    locals.add(meter.measure(local, runs));
                }
                rows(findings, plains, remotes, locals);
            }
        }
        for (Peer peer : context.peers()) peer(context, findings, peer, warm + context.rounds() * runs);
        return findings;
    }

    /** Measures a peer, alone. Its first jobs are the warm-up, but they are counted. */
    private static void peer(WorkloadContext context, Findings findings, Peer peer, int jobs) throws Exception {
        context.progress().report(peer.name());
        try (BenchDatabase database = context.server().empty()) {
            Optional<Samples> found = peer.pickupMillis(database, jobs);
            if (found.isEmpty()) return;
            findings.figure(peer.name() + ", p50 ms", found.get().median());
            findings.figure(peer.name() + ", p99 ms", found.get().percentile(99));
            findings.add(Row.info(
                    peer.name() + " from another process",
                    "p50 %s, p99 %s"
                            .formatted(
                                    FigureText.millis(found.get().median()),
                                    FigureText.millis(found.get().percentile(99))),
                    ""));
        }
    }

    private static void open(ChildProcess childProcess, BenchDatabase.Address address) {
        childProcess.ask(TIMEOUT, "open", address.url(), address.user(), address.password());
    }

    private static Enqueued enqueueInChild(ChildProcess childProcess, String command, int number) {
        List<String> answer = childProcess.ask(TIMEOUT, command, String.valueOf(number));
        return new Enqueued(Long.parseLong(answer.get(0)), Long.parseLong(answer.get(1)));
    }

    private static void rows(
            Findings findings, List<Latencies> plains, List<Latencies> remotes, List<Latencies> locals) {
        double least = figures(findings, "plain SQL, p50 ms", plains, 50);
        double rarely = figures(findings, "plain SQL, p99 ms", plains, 99);
        findings.add(Row.info(
                "plain SQL from another process",
                "p50 %s, p99 %s".formatted(FigureText.millis(least), FigureText.millis(rarely)),
                "from the call: " + latencyFromCall(plains)));
        double p50 = figures(findings, "another process, p50 ms", remotes, 50);
        double p99 = figures(findings, "another process, p99 ms", remotes, 99);
        findings.add(Row.judged(
                        "from another process",
                        "p50 <= 2.5 ms, p99 <= 8 ms",
                        "p50 %s, p99 %s (%.1fx plain SQL)"
                                .formatted(FigureText.millis(p50), FigureText.millis(p99), p50 / least),
                        p50 <= 2.5 && p99 <= 8)
                .note("from the call: " + latencyFromCall(remotes)));
        p50 = figures(findings, "same process, p50 ms", locals, 50);
        p99 = figures(findings, "same process, p99 ms", locals, 99);
        findings.add(Row.judged(
                        "from the same process",
                        "p50 <= 1.5 ms",
                        "p50 %s, p99 %s".formatted(FigureText.millis(p50), FigureText.millis(p99)),
                        p50 <= 1.5)
                .note("from the call: " + latencyFromCall(locals)));
    }

    private static double figures(Findings findings, String name, List<Latencies> rounds, double percent) {
        double[] values = rounds.stream()
                .mapToDouble(round -> round.afterReturn.percentile(percent))
                .toArray();
        for (double value : values) findings.figure(name, value);
        return Samples.of(values).median();
    }

    /**
     * Returns the latency from the call. An enqueue that also sends the notification may return after the handler has
     * started; measured from the call, this time is included.
     */
    private static String latencyFromCall(List<Latencies> rounds) {
        double[] p50 =
                rounds.stream().mapToDouble(round -> round.afterCall.median()).toArray();
        double[] p99 = rounds.stream()
                .mapToDouble(round -> round.afterCall.percentile(99))
                .toArray();
        return "p50 %s, p99 %s"
                .formatted(
                        FigureText.millis(Samples.of(p50).median()),
                        FigureText.millis(Samples.of(p99).median()));
    }

    private static final class Meter {
        private final Random random = new Random(42);
        private final AtomicLongArray started;
        private final Profile profile;
        private int next;

        Meter(AtomicLongArray started, Profile profile) {
            this.started = started;
            this.profile = profile;
        }

        Latencies measure(Enqueuer enqueuer, int runs) {
            double[] afterReturn = new double[runs];
            double[] afterCall = new double[runs];
            for (int i = 0; i < runs; i++) {
                int number = next++;
                Enqueued enqueued = enqueuer.enqueue(number);
                Waiting.require("The start of run " + number, () -> started.get(number) != 0, TIMEOUT);
                afterReturn[i] = (started.get(number) - enqueued.returned) / 1e6;
                afterCall[i] = (started.get(number) - enqueued.called) / 1e6;
                // Wait until the node is idle again, for a random time so that the runs do not align with any loop.
                Waiting.sleep(Duration.ofMillis(10 + random.nextInt(profile.choose(5, 40, 40))));
            }
            return new Latencies(Samples.of(afterReturn), Samples.of(afterCall));
        }
    }
}
