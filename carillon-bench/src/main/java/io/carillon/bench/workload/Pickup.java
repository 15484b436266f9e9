package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.child.Child;
import io.carillon.bench.child.Role;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Pace;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.measure.ServerTime;
import io.carillon.bench.ours.Job;
import io.carillon.bench.ours.OurDrain;
import io.carillon.bench.raw.RawPickup;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLongArray;

/** An idle node gets one run at a time: from the return of the enqueue to the start of the handler. */
final class Pickup implements Workload {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Override
    public String name() {
        return "pickup";
    }

    @Override
    public String about() {
        return "an idle node, one run at a time: from the return of the enqueue to the handler's start";
    }

    /** When an enqueue was called and when it returned, on the database's clock. */
    private record Enqueued(long called, long returned) {}

    private interface Enqueuer {
        Enqueued enqueue(int number);
    }

    private record Latencies(Samples afterReturn, Samples afterCall) {}

    @Override
    public Findings run(Stage stage) throws Exception {
        int runs = stage.profile().pick(5, 150, 500);
        int warm = stage.profile().pick(2, 150, 150);
        Findings findings = new Findings();
        try (BenchDatabase database = stage.server().migrated();
                HikariDataSource pool = database.pool(OurDrain.POOL);
                BenchDatabase plainTables = stage.server().migrated();
                Connection clock = database.connect();
                Child child = Child.start(Role.ENQUEUER);
                Child plainChild = Child.start(Role.ENQUEUER)) {
            database.settle();
            plainTables.settle();
            ServerTime time = ServerTime.on(clock);
            AtomicLongArray started = new AtomicLongArray(3 * warm + 3 * stage.rounds() * runs);
            try (RawPickup base = RawPickup.start(plainTables, number -> started.set(number, time.nanos()));
                    Carillon node = Carillon.on(pool)
                            .handle(Job.TYPE, (job, run) -> started.set(job.number(), time.nanos()))
                            .start()) {
                open(child, database.address());
                open(plainChild, plainTables.address());
                Enqueuer remote = number -> asked(child, "enqueue", number);
                Enqueuer plain = number -> {
                    if (!base.listening()) throw new MeasureException("Plain SQL has stopped listening.");
                    return asked(plainChild, "insert", number);
                };
                Enqueuer local = number -> {
                    long called = time.nanos();
                    node.enqueue(Job.TYPE, Job.of(number));
                    return new Enqueued(called, time.nanos());
                };
                Meter meter = new Meter(started, stage.profile());
                stage.progress().say("warming up");
                meter.measure(plain, warm);
                meter.measure(remote, warm);
                meter.measure(local, warm);
                List<Latencies> plains = new ArrayList<>();
                List<Latencies> remotes = new ArrayList<>();
                List<Latencies> locals = new ArrayList<>();
                for (int round = 0; round < stage.rounds(); round++) {
                    stage.progress().say("round %d of %d".formatted(round + 1, stage.rounds()));
                    time.askAgain(clock);
                    plains.add(meter.measure(plain, runs));
                    remotes.add(meter.measure(remote, runs));
                    locals.add(meter.measure(local, runs));
                }
                rows(findings, plains, remotes, locals);
            }
        }
        return findings;
    }

    private static void open(Child child, BenchDatabase.Address address) {
        child.ask(PATIENCE, "open", address.url(), address.user(), address.password());
    }

    private static Enqueued asked(Child child, String command, int number) {
        List<String> answer = child.ask(PATIENCE, command, String.valueOf(number));
        return new Enqueued(Long.parseLong(answer.get(0)), Long.parseLong(answer.get(1)));
    }

    private static void rows(
            Findings findings, List<Latencies> plains, List<Latencies> remotes, List<Latencies> locals) {
        double least = figures(findings, "plain SQL, p50 ms", plains, 50);
        double rarely = figures(findings, "plain SQL, p99 ms", plains, 99);
        findings.add(Row.info(
                "plain SQL from another process",
                "p50 %s, p99 %s".formatted(Text.millis(least), Text.millis(rarely)),
                "from the call: " + fromCall(plains)));
        double p50 = figures(findings, "another process, p50 ms", remotes, 50);
        double p99 = figures(findings, "another process, p99 ms", remotes, 99);
        findings.add(Row.judged(
                        "from another process",
                        "p50 <= 2.5 ms, p99 <= 8 ms",
                        "p50 %s, p99 %s (%.1fx plain SQL)".formatted(Text.millis(p50), Text.millis(p99), p50 / least),
                        p50 <= 2.5 && p99 <= 8)
                .note("from the call: " + fromCall(remotes)));
        p50 = figures(findings, "same process, p50 ms", locals, 50);
        p99 = figures(findings, "same process, p99 ms", locals, 99);
        findings.add(Row.judged(
                        "from the same process",
                        "p50 <= 1.5 ms",
                        "p50 %s, p99 %s".formatted(Text.millis(p50), Text.millis(p99)),
                        p50 <= 1.5)
                .note("from the call: " + fromCall(locals)));
    }

    private static double figures(Findings findings, String name, List<Latencies> rounds, double percent) {
        double[] values = rounds.stream()
                .mapToDouble(round -> round.afterReturn.percentile(percent))
                .toArray();
        for (double value : values) findings.figure(name, value);
        return Samples.of(values).median();
    }

    /** An enqueue that also sends the hint may return after the handler started; from the call on nothing is hidden. */
    private static String fromCall(List<Latencies> rounds) {
        double[] p50 =
                rounds.stream().mapToDouble(round -> round.afterCall.median()).toArray();
        double[] p99 = rounds.stream()
                .mapToDouble(round -> round.afterCall.percentile(99))
                .toArray();
        return "p50 %s, p99 %s"
                .formatted(
                        Text.millis(Samples.of(p50).median()),
                        Text.millis(Samples.of(p99).median()));
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
                Pace.require("The start of run " + number, () -> started.get(number) != 0, PATIENCE);
                afterReturn[i] = (started.get(number) - enqueued.returned) / 1e6;
                afterCall[i] = (started.get(number) - enqueued.called) / 1e6;
                // Idle again, and in no step with any loop.
                Pace.sleep(Duration.ofMillis(10 + random.nextInt(profile.pick(5, 40, 40))));
            }
            return new Latencies(Samples.of(afterReturn), Samples.of(afterCall));
        }
    }
}
