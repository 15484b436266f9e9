package io.carillon.server.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class IdempotencyKeysTest {
    private static final int ROUNDS = 30;

    private final TestDatabase database = TestDatabase.migrated();
    private final Transactions transactions = new Transactions(database.pool(4));
    private final IdempotencyRepository responses = new IdempotencyRepository(transactions);

    @BeforeEach
    void create_project() {
        database.execute("INSERT INTO carillon.project (project) VALUES ('alpha')");
    }

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void two_groups_with_the_same_keys_in_opposite_order_never_deadlock() {
        AtomicInteger executions = new AtomicInteger();
        AtomicInteger reserved = new AtomicInteger();
        CyclicBarrier barrier = new CyclicBarrier(2);
        List<CompletableFuture<Void>> groups = List.of(false, true).stream()
                .map(reversed -> CompletableFuture.runAsync(() -> {
                    for (int round = 0; round < ROUNDS; round++) {
                        Map<String, byte[]> keys = keys(round, reversed);
                        await(barrier);
                        reserved.addAndGet(transactions.runInProject("alpha", session -> {
                            executions.incrementAndGet();
                            return responses.reserve(session, "alpha", keys).size();
                        }));
                    }
                }))
                .toList();
        groups.forEach(CompletableFuture::join);

        // A deadlock would execute the work of a transaction again.
        assertThat(executions).hasValue(2 * ROUNDS);
        assertThat(reserved).hasValue(ROUNDS * keys(0, false).size());
    }

    @Test
    void a_released_key_can_be_reserved_again() {
        Map<String, byte[]> keys = Map.of("k", new byte[] {1});
        transactions.runInProject("alpha", session -> {
            responses.reserve(session, "alpha", keys);
            responses.release(session, "alpha", keys.keySet());
            return null;
        });

        assertThat(transactions.<Object>runInProject("alpha", session -> responses.reserve(session, "alpha", keys)))
                .isEqualTo(keys.keySet());
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(1, TimeUnit.MINUTES);
        } catch (Exception broken) {
            throw new AssertionError(broken);
        }
    }

    private static Map<String, byte[]> keys(int round, boolean reversed) {
        List<Integer> numbers =
                new ArrayList<>(IntStream.range(0, 2_000).boxed().toList());
        if (reversed) Collections.reverse(numbers);
        Map<String, byte[]> keys = new LinkedHashMap<>();
        for (int number : numbers) keys.put("%d-%04d".formatted(round, number), new byte[] {1});
        return keys;
    }
}
