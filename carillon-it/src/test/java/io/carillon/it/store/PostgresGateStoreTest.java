package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.run.Attempt;
import io.carillon.run.RunId;
import io.carillon.store.GateName;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresGateStoreTest extends GateStoreContract {
    private static final Order STRICT = Order.mail().fifoKey("account");

    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    @Override
    StoreBench bench() {
        return BENCH;
    }

    @Test
    void a_gate_somebody_else_is_at_is_busy_and_left_alone() throws Exception {
        enqueue(STRICT);
        enqueue(Order.mail().fifoKey("other"));
        GateName account = new GateName(PROJECT, "fifo:account");
        List<GateName> both = List.of(account, new GateName(PROJECT, "fifo:other"));
        try (Connection somebody = BENCH.open();
                Statement statement = somebody.createStatement()) {
            somebody.setAutoCommit(false);
            statement.execute(
                    "SELECT pg_advisory_xact_lock(hashtextextended('carillon.gate default fifo:account', 0))");

            assertThat(storage().gates().pass(both).busy()).containsExactly(account);
            assertThat(claim(node(), 9)).hasSize(1);
            somebody.rollback();
        }
        assertThat(storage().gates().pass(both).busy()).isEmpty();
        assertThat(claim(node(), 9)).hasSize(1);
    }

    @Test
    void a_locked_run_holds_up_its_own_gate_only_and_that_gate_is_busy() throws Exception {
        RunId locked = enqueue(STRICT);
        enqueue(Order.mail().fifoKey("other"));
        RunId rated = enqueue(Order.mail().rateKey("shop", 1, SECOND));
        enqueue(Order.mail().rateKey("other shop", 1, SECOND));
        GateName account = new GateName(PROJECT, "fifo:account");
        GateName shop = new GateName(PROJECT, "rate:1000:shop");
        List<GateName> all = List.of(
                account, new GateName(PROJECT, "fifo:other"), shop, new GateName(PROJECT, "rate:1000:other shop"));
        try (Connection somebody = BENCH.open();
                Statement statement = somebody.createStatement()) {
            somebody.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.run WHERE id IN ('%s', '%s') FOR UPDATE"
                    .formatted(locked.value(), rated.value()));

            assertThat(storage().gates().pass(all).busy()).containsExactlyInAnyOrder(account, shop);
            assertThat(claim(node(), 9)).hasSize(2);
            somebody.rollback();
        }
        assertThat(storage().gates().pass(all).busy()).isEmpty();
        assertThat(claim(node(), 9)).extracting(Attempt::run).containsExactlyInAnyOrder(locked, rated);
    }

    @Test
    void nobody_overtakes_a_transaction_that_has_its_place_in_a_strict_line() throws Exception {
        try (Connection slow = BENCH.open()) {
            slow.setAutoCommit(false);
            RunId first = storage()
                    .inbox()
                    .enqueueIn(slow, List.of(STRICT.run()))
                    .get(0)
                    .run();
            CompletableFuture<RunId> second = CompletableFuture.supplyAsync(() -> enqueue(STRICT));
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> second.isDone()
                            || BENCH.rows()
                                            .number(
                                                    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
                                    > 0);
            passGates();
            assertThat(claim(node(), 9)).isEmpty();

            slow.commit();
            second.join();
            passGates();
            UUID node = node();
            assertThat(claimOne(node).run()).isEqualTo(first);
        }
    }
}
