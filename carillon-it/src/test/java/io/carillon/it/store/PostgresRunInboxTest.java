package io.carillon.it.store;

import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresRunInboxTest extends RunInboxContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    StoreFixture fixture() {
        return FIXTURE;
    }
}
