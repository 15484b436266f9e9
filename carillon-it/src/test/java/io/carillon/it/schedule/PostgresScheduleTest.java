package io.carillon.it.schedule;

import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.StoreFixture;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresScheduleTest extends ScheduleContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }
}
