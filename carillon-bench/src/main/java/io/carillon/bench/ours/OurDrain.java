package io.carillon.bench.ours;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.Drained;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Pace;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.Sql;
import java.time.Duration;

/** One node with the shipped settings empties a queue. */
public final class OurDrain {
    /** Hikari's own default. */
    public static final int POOL = 10;

    private static final int CHUNK = 10_000;
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private OurDrain() {}

    /** Stores due runs as an application would. */
    public static void store(BenchDatabase database, int jobs) throws Exception {
        try (HikariDataSource pool = database.pool(2);
                Carillon carillon =
                        Carillon.on(pool).handle(Job.TYPE, (job, run) -> {}).build()) {
            for (int from = 0; from < jobs; from += CHUNK)
                carillon.enqueueAll(Job.TYPE, Job.range(from, Math.min(jobs, from + CHUNK)));
        }
        database.settle();
    }

    /** Starts a node on stored runs and waits until all of them are in the history. */
    public static Drained drain(BenchDatabase database, int jobs) {
        Tally tally = new Tally(jobs);
        try (HikariDataSource pool = database.pool(POOL)) {
            CpuMeter cpu = CpuMeter.start(database.serverPid());
            Carillon node = tally.start(pool);
            try (node) {
                Pace.require("The drain", () -> tally.ended() >= jobs, PATIENCE);
            }
            CpuMeter.Used used = cpu.used();
            check(new Sql(pool), jobs);
            return new Drained(jobs, tally.seconds(), tally.missing(), tally.twice(), used);
        }
    }

    /** What the handlers counted must also be what the tables say. */
    public static void check(Sql sql, int jobs) {
        long left = sql.number("SELECT count(*) FROM carillon.run");
        long history = sql.number("SELECT count(*) FROM carillon.run_history WHERE state = 'succeeded'");
        if (left != 0 || history != jobs)
            throw new MeasureException(
                    "After the drain of %d runs %d are left and %d are in the history.".formatted(jobs, left, history));
    }
}
