package io.carillon.it.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreFixture;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresRunStoreTest extends RunStoreContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @Test
    void a_claim_skips_locked_runs_and_does_not_wait_for_them() throws SQLException {
        enqueue(RunSpec.mail(), 5);
        try (Connection other = FIXTURE.open();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.run ORDER BY id LIMIT 2 FOR UPDATE");

            assertThat(claim(node(), 5)).hasSize(3);

            other.rollback();
            other.setAutoCommit(true);
        }
        assertThat(claim(node(), 5)).hasSize(2);
    }
}
