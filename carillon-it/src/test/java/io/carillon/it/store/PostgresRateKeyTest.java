package io.carillon.it.store;

import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresRateKeyTest extends RateKeyContract {
    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    @Override
    StoreBench bench() {
        return BENCH;
    }
}
