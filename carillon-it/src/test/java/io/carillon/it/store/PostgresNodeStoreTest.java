package io.carillon.it.store;

import java.util.UUID;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresNodeStoreTest extends NodeStoreContract {
    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    @Override
    StoreBench bench() {
        return BENCH;
    }

    @Override
    void commitLate(UUID node) {
        BENCH.database()
                .execute("UPDATE carillon.run SET owner = '%s', attempt = attempt + 1, started_at = carillon.clock()"
                        .formatted(node));
    }

    @Override
    void registerWithoutWaking(String handler) {
        BENCH.database().execute("""
                INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, slots, wakeup)
                VALUES (gen_random_uuid(), 'n', 'host', 1, '1', 1, '{%s}', 50, 'notify')
                """.formatted(handler));
    }
}
