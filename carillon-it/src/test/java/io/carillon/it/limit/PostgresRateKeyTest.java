package io.carillon.it.limit;

import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.StoreFixture;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresRateKeyTest extends RateKeyContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }
}
