package io.carillon.it.store;

import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresBreakerTest extends BreakerContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    StoreFixture fixture() {
        return FIXTURE;
    }
}
