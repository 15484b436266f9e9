package io.carillon.it.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.StoreFixture;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresRunWaitTest extends RunWaitContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @Override
    void assertNoWaits() {
        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.run_wait").number())
                .isZero();
    }
}
