package io.carillon.it.store;

import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresLaneLimitTest extends LaneLimitContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    StoreFixture fixture() {
        return FIXTURE;
    }
}
