package io.carillon.bench.ours;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.FirePlan;
import io.carillon.bench.measure.Firing;
import io.carillon.bench.server.BenchDatabase;
import java.time.Instant;
import java.util.function.Consumer;

/** One node with the shipped settings fires schedules. */
public record OurFiring(BenchDatabase database) implements Firing {
    @Override
    public AutoCloseable start(FirePlan plan, Instant first, Consumer<Instant> fired) throws Exception {
        HikariDataSource pool = database.pool(OurDrain.POOL);
        try (Carillon desk =
                Carillon.on(pool).handle(Job.TYPE, (job, run) -> {}).build()) {
            OurSchedules.store(database, desk, OurSchedules.Copies.of(plan, first));
        }
        Carillon node = Carillon.on(pool)
                .handle(Job.TYPE, (job, run) -> run.plannedAt().ifPresent(fired))
                .start();
        return () -> {
            node.close();
            pool.close();
        };
    }
}
