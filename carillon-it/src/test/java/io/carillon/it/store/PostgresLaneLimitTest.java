package io.carillon.it.store;

import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresLaneLimitTest extends LaneLimitContract {
    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    @Override
    StoreBench bench() {
        return BENCH;
    }
}
