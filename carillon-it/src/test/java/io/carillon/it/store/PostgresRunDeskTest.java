package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.run.Attempt;
import io.carillon.run.Cancellation;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.run.Transition;
import io.carillon.store.BulkDeed;
import io.carillon.store.RunDesk;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresRunDeskTest extends RunDeskContract {
    private static final String WAITING =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    @Override
    StoreBench bench() {
        return BENCH;
    }

    @Test
    void a_cancel_waits_for_whoever_is_letting_the_run_go() throws SQLException {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);
        try (Connection letting = BENCH.open()) {
            letting.setAutoCommit(false);
            Transition retry = new Transition.Retry(Duration.ofMinutes(1), "oops", false);
            assertThat(storage().runs().applyIn(letting, node, ended(attempt, retry)))
                    .isTrue();

            CompletableFuture<Cancellation> answer = CompletableFuture.supplyAsync(
                    () -> bench().another().runDesk().cancel(PROJECT, id, "enough"));
            await().until(() -> answer.isDone() || BENCH.rows().number(WAITING) > 0);
            letting.commit();
            letting.setAutoCommit(true);

            assertThat(answer.join()).isEqualTo(new Cancellation.Cancelled());
        }
        assertThat(get(id).state()).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void a_bulk_action_waits_for_runs_that_another_transaction_has_locked() throws SQLException {
        RunId id = enqueue(Order.mail());
        enqueue(Order.mail());
        try (Connection locking = BENCH.open()) {
            locking.setAutoCommit(false);
            try (Statement lock = locking.createStatement()) {
                lock.execute("SELECT 1 FROM carillon.run WHERE id = '" + id.value() + "' FOR UPDATE");
            }

            CompletableFuture<Integer> answer = CompletableFuture.supplyAsync(this::cancelWaiting);
            await().until(() -> answer.isDone() || BENCH.rows().number(WAITING) > 0);
            locking.rollback();
            locking.setAutoCommit(true);

            assertThat(answer.join()).isEqualTo(2);
        }
        assertThat(get(id).state()).isEqualTo(RunState.CANCELLED);
    }

    private int cancelWaiting() {
        RunDesk desk = bench().another().runDesk();
        RunFilter waiting = RunFilter.all().state(RunState.WAITING);
        int all = 0;
        for (int chunk = -1; chunk != 0; all += Math.max(0, chunk))
            chunk = desk.bulk(PROJECT, waiting, new BulkDeed.Cancel("enough"));
        return all;
    }
}
