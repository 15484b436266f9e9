package io.carillon.it.store;

import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresScheduleTest extends ScheduleContract {
    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    @Override
    StoreBench bench() {
        return BENCH;
    }
}
