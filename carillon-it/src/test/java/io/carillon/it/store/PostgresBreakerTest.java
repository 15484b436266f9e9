package io.carillon.it.store;

import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresBreakerTest extends BreakerContract {
    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    @Override
    StoreBench bench() {
        return BENCH;
    }
}
