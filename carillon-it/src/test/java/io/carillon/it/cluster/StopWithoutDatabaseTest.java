package io.carillon.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.embedded.EmbeddedPostgres;
import io.carillon.run.HandlerType;
import io.carillon.testkit.FaultProxy;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A node that is stopped while its database is down: its loops cannot finish, so it stops after a short wait. */
class StopWithoutDatabaseTest {
    record Item(int number) {}

    private static final HandlerType<Item> ITEM = HandlerType.of("item", Item.class);
    private static final Duration A_FEW_SECONDS = Duration.ofSeconds(10);

    private final CountDownLatch finish = new CountDownLatch(1);
    private final AtomicInteger started = new AtomicInteger();

    @Tag("slow")
    @Test
    void an_idle_node_stops_in_a_few_seconds_after_its_database_died() {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.temporary().start();
                HikariDataSource pool = pool(postgres)) {
            Carillon node = node(pool);

            postgres.kill();
            await("loops wait for a connection")
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> pool.getHikariPoolMXBean().getThreadsAwaitingConnection() >= 3);

            assertThat(timeToClose(node)).isLessThan(A_FEW_SECONDS);
        }
    }

    @Tag("slow")
    @Test
    void an_idle_node_stops_in_a_few_seconds_while_its_database_dies() {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.temporary().start();
                HikariDataSource pool = pool(postgres)) {
            Carillon node = node(pool);

            postgres.kill();

            assertThat(timeToClose(node)).isLessThan(A_FEW_SECONDS);
        }
    }

    @Tag("slow")
    @Test
    void a_node_with_running_attempts_stops_in_a_few_seconds_despite_a_long_shutdown_timeout() {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.temporary().start();
                HikariDataSource pool = pool(postgres)) {
            Carillon node = node(pool);
            for (int i = 0; i < 20; i++) node.enqueue(ITEM, new Item(i));
            await().atMost(Duration.ofSeconds(30)).until(() -> started.get() == 4);

            postgres.kill();

            assertThat(timeToClose(node)).isLessThan(A_FEW_SECONDS);
        }
    }

    @Tag("slow")
    @Test
    void results_that_cannot_be_written_do_not_delay_the_stop() {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.temporary().start();
                HikariDataSource pool = pool(postgres)) {
            Carillon node = node(pool);
            node.enqueue(ITEM, new Item(1));
            await().atMost(Duration.ofSeconds(30)).until(() -> started.get() == 1);

            postgres.kill();
            finish.countDown();

            assertThat(timeToClose(node)).isLessThan(A_FEW_SECONDS);
        }
    }

    @Tag("slow")
    @Test
    void a_network_that_drops_all_packets_delays_the_stop_until_the_node_would_be_declared_dead() {
        try (TestDatabase database = TestDatabase.migrated();
                FaultProxy proxy = FaultProxy.inFrontOf(database)) {
            Carillon node = Carillon.on(proxy.dataSource())
                    .handle(ITEM, (item, run) -> finish.await())
                    .start();

            proxy.halfOpen();

            assertThat(timeToClose(node)).isLessThan(Duration.ofSeconds(20));
        }
    }

    private static Duration timeToClose(Carillon node) {
        long before = System.nanoTime();
        node.close();
        return Duration.ofNanos(System.nanoTime() - before);
    }

    private Carillon node(HikariDataSource pool) {
        return Carillon.on(pool)
                .concurrency(4)
                .handle(ITEM, (item, run) -> {
                    started.incrementAndGet();
                    finish.await(5, TimeUnit.MINUTES);
                })
                .start();
    }

    private static HikariDataSource pool(EmbeddedPostgres postgres) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(postgres.jdbcUrl());
        pool.setUsername(postgres.user());
        pool.setPassword(postgres.password());
        return pool;
    }
}
