package io.carillon.it.planning;

import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.StoreFixture;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresLedgerTest extends LedgerContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }
}
