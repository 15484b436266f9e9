package io.carillon.bench.ours;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.FirePlan;
import io.carillon.bench.measure.FiringScheduler;
import io.carillon.bench.server.BenchDatabase;
import java.time.Instant;
import java.util.function.Consumer;

/** Fires schedules with one node and default settings. */
public record CarillonFiring(BenchDatabase database) implements FiringScheduler {
    @Override
    public AutoCloseable start(FirePlan plan, Instant first, Consumer<Instant> fired) throws Exception {
        HikariDataSource pool = database.pool(CarillonDrain.POOL);
        try (Carillon client = Carillon.on(pool)
                .handle(BenchPayload.TYPE, (benchPayload, run) -> {})
                .build()) {
            CarillonSchedules.store(database, client, CarillonSchedules.Copies.of(plan, first));
        }
        Carillon node = Carillon.on(pool)
                .handle(
                        BenchPayload.TYPE,
                        (benchPayload, run) -> run.plannedAt().ifPresent(fired))
                .start();
        return () -> {
            node.close();
            pool.close();
        };
    }
}
