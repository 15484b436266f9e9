package io.carillon.bench.ours;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.FirePlan;
import io.carillon.bench.measure.FiringScheduler;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.event.EventType;
import io.carillon.event.Subscribe;
import io.carillon.event.Topic;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Consumer;

/** Fires schedules that publish an event, which a subscription delivers to a handler. */
public record EventFiring(BenchDatabase database) implements FiringScheduler {
    private static final EventType<String> TICKED = Topic.named("ticks").event("tick.fired", String.class);

    @Override
    public AutoCloseable start(FirePlan plan, Instant first, Consumer<Instant> fired) throws Exception {
        HikariDataSource pool = database.pool(CarillonDrain.POOL);
        try (Carillon client = Carillon.on(pool).build()) {
            CarillonSchedules.storeEvents(database, client, CarillonSchedules.Copies.of(plan, first), TICKED.of("x"));
        }
        Carillon node = Carillon.on(pool)
                .subscribe(
                        "receive",
                        TICKED,
                        (event, run) -> Optional.ofNullable(event.plannedAt()).ifPresent(fired),
                        Subscribe.inAnyOrder())
                .start();
        return () -> {
            node.close();
            pool.close();
        };
    }
}
