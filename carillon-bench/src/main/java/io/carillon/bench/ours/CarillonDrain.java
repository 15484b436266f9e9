package io.carillon.bench.ours;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.DrainResult;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.Sql;
import java.time.Duration;

/** Drains a queue with one node and default settings. */
public final class CarillonDrain {
    /** The default pool size of HikariCP. */
    public static final int POOL = 10;

    private static final int CHUNK = 10_000;
    private static final Duration TIMEOUT = Duration.ofMinutes(10);

    private CarillonDrain() {}

    /** Stores due runs through the public API. */
    public static void store(BenchDatabase database, int jobs) throws Exception {
        store(database, DrainShape.plain("", jobs));
    }

    /** Stores the runs of a shape through the public API. */
    public static void store(BenchDatabase database, DrainShape shape) throws Exception {
        try (HikariDataSource pool = database.pool(2);
                Carillon carillon = Carillon.on(pool)
                        .handle(BenchPayload.TYPE, (benchPayload, run) -> {})
                        .build()) {
            int chunk = Math.max(1, Math.min(CHUNK, shape.jobs() / shape.parts()));
            for (int from = 0; from < shape.jobs(); from += chunk)
                carillon.enqueueAll(
                        BenchPayload.TYPE,
                        BenchPayload.range(from, Math.min(shape.jobs(), from + chunk), shape.payloadBytes()),
                        shape.options(from / chunk));
        }
        database.analyzeAndCheckpoint();
    }

    /** Starts a node on stored runs and waits until all of them are in the history. */
    public static DrainResult drain(BenchDatabase database, int jobs) {
        return drain(database, DrainShape.plain("", jobs));
    }

    /** Like {@link #drain(BenchDatabase, int)}, with handlers that take the time of the shape. */
    public static DrainResult drain(BenchDatabase database, DrainShape shape) {
        int jobs = shape.jobs();
        RunCounter counter = new RunCounter(jobs);
        try (HikariDataSource pool = database.pool(POOL)) {
            CpuMeter cpu = CpuMeter.start(database.serverPid());
            Carillon node = counter.start(pool, shape.handler());
            try (node) {
                Waiting.require("The drain", () -> counter.ended() >= jobs, TIMEOUT);
            }
            CpuMeter.Used used = cpu.used();
            check(new Sql(pool), jobs);
            return new DrainResult(jobs, counter.seconds(), counter.missing(), counter.duplicates(), used);
        }
    }

    /** Throws if the tables differ from the count of the handlers. */
    public static void check(Sql sql, int jobs) {
        long left = sql.number("SELECT count(*) FROM carillon.run");
        long history = sql.number("SELECT count(*) FROM carillon.run_history WHERE state = 'succeeded'");
        if (left != 0 || history != jobs)
            throw new MeasureException("After the drain of %d runs, %d are left and %d are in the history."
                    .formatted(jobs, left, history));
    }
}
