package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.bench.ours.RunCounter;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.Sql;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Measures the size of the table of runs while a node executes as many runs as arrive. */
final class SteadyLoad implements Workload {
    private static final int PER_SECOND = 3_000;
    private static final int PER_CALL = 30;
    private static final double MAX_MIB = 40;
    private static final double MIB = 1024.0 * 1024;
    private static final Duration CALL_INTERVAL = Duration.ofMillis(1_000L * PER_CALL / PER_SECOND);
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    @Override
    public String name() {
        return "steady";
    }

    @Override
    public String about() {
        return "3,000 runs a second for three minutes: the size of the table of runs";
    }

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        int seconds = context.profile().choose(2, 180, 600);
        int jobs = seconds * PER_SECOND;
        List<Double> sizes = new ArrayList<>();
        RunCounter counter = new RunCounter(jobs);
        try (BenchDatabase database = context.server().migrated();
                HikariDataSource pool = database.pool(CarillonDrain.POOL);
                Carillon node = counter.start(pool)) {
            database.analyzeAndCheckpoint();
            Sql sql = new Sql(pool);
            long start = System.nanoTime();
            for (int call = 0; call < jobs / PER_CALL; call++) {
                node.enqueueAll(BenchPayload.TYPE, BenchPayload.range(call * PER_CALL, (call + 1) * PER_CALL));
                if ((call + 1) * PER_CALL % PER_SECOND == 0) {
                    sizes.add(sql.number("SELECT pg_total_relation_size('carillon.run')") / MIB);
                    context.progress()
                            .report("%d of %d s, %.0f MiB"
                                    .formatted(sizes.size(), seconds, sizes.get(sizes.size() - 1)));
                }
                long ahead = (call + 1) * CALL_INTERVAL.toNanos() - (System.nanoTime() - start);
                if (ahead > 0) Waiting.sleep(Duration.ofNanos(ahead));
            }
            double took = Waiting.seconds(start, System.nanoTime());
            Waiting.require("The end of the last run", () -> counter.ended() >= jobs, TIMEOUT);
            if (counter.missing() + counter.duplicates() > 0)
                throw new MeasureException(
                        "%d runs were lost, %d ran twice.".formatted(counter.missing(), counter.duplicates()));
            return findings(sizes, jobs / took);
        }
    }

    private static Findings findings(List<Double> sizes, double rate) {
        Findings findings = new Findings();
        sizes.forEach(size -> findings.figure("table and indexes, MiB", size));
        findings.figure("runs a second", rate);
        double most = Samples.of(sizes).max();
        double half = Samples.of(sizes.subList(0, (sizes.size() + 1) / 2)).max();
        findings.add(Row.judged(
                        "largest size of table and indexes", "<= 40 MiB", "%.1f MiB".formatted(most), most <= MAX_MIB)
                .note("%.1f MiB in the first half".formatted(half)));
        findings.add(Row.judged("rate", ">= 99 % of 3,000/s", FigureText.rate(rate), rate >= 0.99 * PER_SECOND));
        return findings;
    }
}
