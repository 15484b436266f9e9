package io.carillon.bench.server;

import io.carillon.bench.measure.Pace;
import java.time.Duration;

/** Looks whether autovacuum is at work, so that nobody takes its CPU for that of a node. */
public record Autovacuum(Sql sql) {
    /** Waits until no worker of it runs; false: it did not stop in time. */
    public boolean awaitQuiet(Duration atMost) {
        return Pace.await(
                () -> {
                    Pace.sleep(Duration.ofMillis(200));
                    return sql.number("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'")
                            == 0;
                },
                atMost);
    }

    /** How often it has gone through a table here. */
    public long rounds() {
        return sql.number("SELECT sum(autovacuum_count + autoanalyze_count)::bigint FROM pg_stat_all_tables");
    }
}
