package io.carillon.it.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.store.run.GateName;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.RunId;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresGateStoreTest extends GateStoreContract {
    private static final RunSpec FIFO = RunSpec.mail().fifoKey("account");

    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @Test
    void a_gate_locked_by_another_session_is_reported_busy_and_skipped() throws Exception {
        enqueue(FIFO);
        enqueue(RunSpec.mail().fifoKey("other"));
        GateName account = new GateName(PROJECT, "fifo:account");
        List<GateName> both = List.of(account, new GateName(PROJECT, "fifo:other"));
        try (Connection locker = FIXTURE.open();
                Statement statement = locker.createStatement()) {
            locker.setAutoCommit(false);
            statement.execute(
                    "SELECT pg_advisory_xact_lock(hashtextextended('carillon.gate default fifo:account', 0))");

            assertThat(storage().gates().promote(both).busy()).containsExactly(account);
            assertThat(claim(node(), 9)).hasSize(1);
            locker.rollback();
        }
        assertThat(storage().gates().promote(both).busy()).isEmpty();
        assertThat(claim(node(), 9)).hasSize(1);
    }

    @Test
    void a_locked_run_delays_its_own_gate_only_and_that_gate_is_reported_busy() throws Exception {
        RunId locked = enqueue(FIFO);
        enqueue(RunSpec.mail().fifoKey("other"));
        RunId rated = enqueue(RunSpec.mail().rateKey("shop", 1, SECOND));
        enqueue(RunSpec.mail().rateKey("other shop", 1, SECOND));
        GateName account = new GateName(PROJECT, "fifo:account");
        GateName shop = new GateName(PROJECT, "rate:1000:shop");
        List<GateName> all = List.of(
                account, new GateName(PROJECT, "fifo:other"), shop, new GateName(PROJECT, "rate:1000:other shop"));
        try (Connection locker = FIXTURE.open();
                Statement statement = locker.createStatement()) {
            locker.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.run WHERE id IN ('%s', '%s') FOR UPDATE"
                    .formatted(locked.value(), rated.value()));

            assertThat(storage().gates().promote(all).busy()).containsExactlyInAnyOrder(account, shop);
            assertThat(claim(node(), 9)).hasSize(2);
            locker.rollback();
        }
        assertThat(storage().gates().promote(all).busy()).isEmpty();
        assertThat(claim(node(), 9)).extracting(Attempt::run).containsExactlyInAnyOrder(locked, rated);
    }

    @Test
    void no_run_overtakes_an_open_transaction_with_the_same_fifo_key() throws Exception {
        try (Connection slow = FIXTURE.open()) {
            slow.setAutoCommit(false);
            RunId first = storage()
                    .newRuns()
                    .enqueueIn(slow, List.of(FIFO.run()))
                    .get(0)
                    .run();
            CompletableFuture<RunId> second = CompletableFuture.supplyAsync(() -> enqueue(FIFO));
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> second.isDone()
                            || FIXTURE.query("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
                                                    + " AND NOT granted")
                                            .number()
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
