package io.carillon.it.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.RunId;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
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

    @Test
    void more_than_a_thousand_isolated_runs_of_another_handler_do_not_hide_a_run_of_this_node() {
        enqueue(RunSpec.mail().withHandler("a.other"), 1_001);
        RunId mine = enqueue(RunSpec.mail());
        // The runs of the other handler come first in every order: by name, due time and node deaths.
        FIXTURE.database().execute("""
                UPDATE carillon.run
                   SET parked = 'isolated', ready_at = 'infinity',
                       node_deaths = CASE target_name WHEN 'a.other' THEN 2 ELSE 4 END,
                       due_at = CASE target_name WHEN 'a.other' THEN due_at - interval '1 hour' ELSE due_at END
                """);

        assertThat(storage().runs().claimOneIsolated(node(), Set.of(RunSpec.HANDLER)))
                .map(Attempt::run)
                .contains(mine);
    }
}
