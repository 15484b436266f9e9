package io.carillon.it.claim;

import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.StoreFixture;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresLaneStoreTest extends LaneStoreContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }
}
