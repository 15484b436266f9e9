package io.carillon.it.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.BulkAction;
import io.carillon.internal.store.run.BulkChunk;
import io.carillon.internal.store.run.BulkCursor;
import io.carillon.internal.store.run.RunAdmin;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.CancelResult;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresRunAdminTest extends RunAdminContract {
    private static final String WAITING =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @Test
    void a_cancel_waits_for_the_transaction_that_ends_the_attempt() throws SQLException {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);
        try (Connection ending = FIXTURE.open()) {
            ending.setAutoCommit(false);
            Transition retry = new Transition.Retry(Duration.ofMinutes(1), "oops", false);
            assertThat(storage().runs().applyIn(ending, node, ended(attempt, retry)))
                    .isTrue();

            CompletableFuture<CancelResult> answer = CompletableFuture.supplyAsync(
                    () -> fixture().secondStorage().runAdmin().cancel(PROJECT, id, "enough"));
            await().until(() -> answer.isDone() || FIXTURE.query(WAITING).number() > 0);
            ending.commit();
            ending.setAutoCommit(true);

            assertThat(answer.join()).isEqualTo(new CancelResult.Cancelled());
        }
        assertThat(get(id).state()).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void a_bulk_action_waits_for_runs_that_another_transaction_has_locked() throws SQLException {
        RunId id = enqueue(RunSpec.mail());
        enqueue(RunSpec.mail());
        try (Connection locking = FIXTURE.open()) {
            locking.setAutoCommit(false);
            try (Statement lock = locking.createStatement()) {
                lock.execute("SELECT 1 FROM carillon.run WHERE id = '" + id.value() + "' FOR UPDATE");
            }

            CompletableFuture<Integer> answer = CompletableFuture.supplyAsync(this::cancelWaiting);
            await().until(() -> answer.isDone() || FIXTURE.query(WAITING).number() > 0);
            locking.rollback();
            locking.setAutoCommit(true);

            assertThat(answer.join()).isEqualTo(2);
        }
        assertThat(get(id).state()).isEqualTo(RunState.CANCELLED);
    }

    private int cancelWaiting() {
        RunAdmin admin = fixture().secondStorage().runAdmin();
        RunFilter waiting = RunFilter.all().state(RunState.WAITING);
        BulkAction cancel = new BulkAction.Cancel("enough");
        int all = 0;
        for (BulkCursor cursor = admin.beginBulk(PROJECT, false); !cursor.isFinished(); ) {
            BulkChunk chunk = admin.bulk(PROJECT, waiting, cancel, cursor);
            cursor = chunk.next();
            all += chunk.done();
            if (chunk.blocked()) admin.awaitUnlocked(PROJECT, waiting, cancel, cursor);
        }
        return all;
    }
}
