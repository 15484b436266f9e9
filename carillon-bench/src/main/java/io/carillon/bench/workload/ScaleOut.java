package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.child.ChildProcess;
import io.carillon.bench.child.Role;
import io.carillon.bench.measure.Profile;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.Sql;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Measures two nodes with very many due runs in ten thousand lanes: the latency of a new run, the rescue after the
 * death of a node, and the time of a stop.
 */
final class ScaleOut implements Workload {
    private static final int HELD_RUNS = 500;
    private static final int CHUNK = 500_000;
    private static final Duration TIMEOUT = Duration.ofMinutes(5);
    private static final double NEW_RUN_MILLIS = 100;
    private static final double RESCUE_SECONDS = 30;
    private static final double STOP_SECONDS = 5;

    private static final String FILL = """
            INSERT INTO carillon.run (project, id, queue, priority, due_at, ready_at, day, origin, target, target_name,
              codec, payload)
            SELECT 'p' || (i %% %3$d), gen_random_uuid(), 'q' || (i / %3$d %% 10), 1, at, at,
                   (at AT TIME ZONE 'UTC')::date, 'direct', 'handler',
                   'bench.job', 'json', '{"number": 0, "text": ""}'
              FROM (SELECT i, carillon.clock() - i * interval '1 us' AS at FROM generate_series(%1$d, %2$d) i) runs
            """;

    private static final String RESCUED = """
            SELECT count(*) FROM carillon.attempt a
             WHERE a.outcome = 'crashed' AND EXISTS
               (SELECT 1 FROM carillon.run_history h WHERE h.id = a.run_id AND h.project = a.project)
            """;

    @Override
    public String name() {
        return "scale-out";
    }

    @Override
    public String about() {
        return "up to 10 M due runs in 10,000 lanes: a new run, the death of a node that holds 500, a stop";
    }

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        Profile profile = context.profile();
        int runs = profile.choose(20_000, 1_000_000, 10_000_000);
        int projects = profile.choose(10, 1_000, 1_000);
        int held = profile.choose(20, HELD_RUNS, HELD_RUNS);
        Findings findings = new Findings();
        AtomicLong ended = new AtomicLong();
        AtomicLongArray started = new AtomicLongArray(1_000);
        try (BenchDatabase database = context.server().migrated();
                HikariDataSource pool = database.pool(CarillonDrain.POOL + 2)) {
            Sql sql = new Sql(pool);
            fill(context, sql, runs, projects);
            database.analyzeAndCheckpoint();
            double rescue;
            double stop;
            Samples news;
            try (ChildProcess victim = ChildProcess.start(Role.HOLDER, "-Xmx512m", "-Xss512k")) {
                BenchDatabase.Address address = database.address();
                victim.ask(TIMEOUT, "start", address.url(), address.user(), address.password(), String.valueOf(held));
                Waiting.require("The claim of %d runs".formatted(held), () -> ask(victim, "held") >= held, TIMEOUT);
                Carillon node = Carillon.on(pool)
                        .handle(BenchPayload.TYPE, (benchPayload, run) -> {
                            if (benchPayload.number() > 0) started.set(benchPayload.number(), System.nanoTime());
                            ended.incrementAndGet();
                        })
                        .start();
                try (node) {
                    Waiting.require("The start of the drain", () -> ended.get() > 1_000, TIMEOUT);
                    context.progress().report("new runs beside %,d".formatted(runs));
                    news = newRuns(context, node, started);
                    context.progress().report("killing a node that holds %d runs".formatted(held));
                    victim.kill();
                    long killed = System.nanoTime();
                    Waiting.require(
                            "The rescue of %d runs".formatted(held), () -> sql.number(RESCUED) >= held, TIMEOUT);
                    rescue = Waiting.seconds(killed, System.nanoTime());
                    context.progress().report("stopping");
                    killed = System.nanoTime();
                    node.close();
                    stop = Waiting.seconds(killed, System.nanoTime());
                }
            }
            findings.figure("new run, ms", news.median());
            findings.figure("rescue, s", rescue);
            findings.figure("stop, s", stop);
            String beside = "beside %,d due runs in %,d lanes".formatted(runs, projects * 10);
            findings.add(Row.judged(
                            "a new run " + beside,
                            "<= 100 ms",
                            "%s, highest %s".formatted(FigureText.millis(news.median()), FigureText.millis(news.max())),
                            news.median() <= NEW_RUN_MILLIS)
                    .note("median of %d, from the call of the enqueue to the start".formatted(news.size())));
            findings.add(Row.judged(
                            "%d runs of a killed node have ended".formatted(held),
                            "<= 30 s after the kill",
                            "%.1f s".formatted(rescue),
                            rescue <= RESCUE_SECONDS)
                    .note("a node is declared dead after ten seconds"));
            findings.add(
                    Row.judged("stop of a node " + beside, "<= 5 s", "%.1f s".formatted(stop), stop <= STOP_SECONDS));
        }
        return findings;
    }

    private static void fill(WorkloadContext context, Sql sql, int runs, int projects) {
        for (int from = 0; from < runs; from += CHUNK) {
            context.progress().report("storing, %,d of %,d".formatted(from, runs));
            sql.execute(FILL.formatted(from, Math.min(runs, from + CHUNK) - 1, projects));
        }
    }

    /** Enqueues runs one after another in a separate project and returns the milliseconds until their start. */
    private static Samples newRuns(WorkloadContext context, Carillon node, AtomicLongArray started) {
        double[] millis = new double[context.profile().choose(3, 50, 50)];
        for (int i = 0; i < millis.length; i++) {
            int number = i + 1;
            long from = System.nanoTime();
            node.project("small").enqueue(BenchPayload.TYPE, BenchPayload.of(number));
            Waiting.require("The start of run " + number, () -> started.get(number) != 0, TIMEOUT);
            millis[i] = (started.get(number) - from) / 1e6;
            Waiting.sleep(Duration.ofMillis(20));
        }
        return Samples.of(millis);
    }

    private static long ask(ChildProcess node, String what) {
        return Long.parseLong(node.ask(TIMEOUT, what).get(0));
    }
}
