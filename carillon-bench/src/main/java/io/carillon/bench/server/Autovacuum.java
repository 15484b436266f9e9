package io.carillon.bench.server;

import io.carillon.bench.measure.Waiting;
import java.time.Duration;

/** Reports the activity of autovacuum, whose CPU time must not be counted as that of a node. */
public record Autovacuum(Sql sql) {
    /** Waits until no autovacuum worker runs. Returns whether that happened in time. */
    public boolean awaitQuiet(Duration atMost) {
        return Waiting.await(
                () -> {
                    Waiting.sleep(Duration.ofMillis(200));
                    return sql.number("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'")
                            == 0;
                },
                atMost);
    }

    /** Returns how many times autovacuum has processed a table of this database. */
    public long rounds() {
        return sql.number("SELECT sum(autovacuum_count + autoanalyze_count)::bigint FROM pg_stat_all_tables");
    }
}
