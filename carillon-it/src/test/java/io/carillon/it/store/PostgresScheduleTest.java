package io.carillon.it.store;

import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresScheduleTest extends ScheduleContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    StoreFixture fixture() {
        return FIXTURE;
    }
}
