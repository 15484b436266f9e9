package io.carillon.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.Pools;
import io.carillon.run.HandlerType;
import io.carillon.run.RunState;
import io.carillon.testkit.FaultProxy;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Of two hosts in the URL the first stops to answer, without a reset and while it still accepts connections: the node goes on at the second. */
class FrozenHostTest {
    record Item(int number) {}

    private static final HandlerType<Item> ITEM = HandlerType.of("item", Item.class);
    private static final Duration SOON = Duration.ofSeconds(30);

    @Tag("slow")
    @Test
    void is_left_within_half_a_minute_with_the_pool_of_the_command() {
        leaves(url -> Pools.on(DatabaseUrl.parse(url), 12));
    }

    @Tag("slow")
    @Test
    void is_left_within_half_a_minute_with_the_settings_that_the_manual_names() {
        leaves(url -> {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(url + "&connectTimeout=5&socketTimeout=10");
            config.setMaximumPoolSize(12);
            config.setConnectionTimeout(10_000);
            config.setValidationTimeout(2_000);
            return new HikariDataSource(config);
        });
    }

    private static void leaves(Function<String, HikariDataSource> pools) {
        AtomicInteger done = new AtomicInteger();
        try (TestDatabase database = TestDatabase.migrated();
                FaultProxy proxy = FaultProxy.before(database);
                HikariDataSource pool = pools.apply(url(proxy, database));
                Carillon node = Carillon.on(pool)
                        .handle(ITEM, (item, run) -> done.incrementAndGet())
                        .start()) {
            node.enqueue(ITEM, new Item(0));
            await().atMost(SOON).until(() -> done.get() == 1);
            assertThat(proxy.connections()).as("the first host is used").isPositive();

            proxy.halfOpen();
            long frozen = System.nanoTime();
            try (Carillon client = Carillon.on(database.pool(4)).build()) {
                var run = client.enqueue(ITEM, new Item(1)).run();
                await("the run ends on the second host")
                        .atMost(SOON)
                        .until(() -> client.runs().get(run).orElseThrow().state() == RunState.SUCCEEDED);
            }
            System.out.println("frozen host left after " + (System.nanoTime() - frozen) / 1_000_000 + " ms");
        }
    }

    /** Both lead to the same database; the second goes past the proxy. */
    private static String url(FaultProxy proxy, TestDatabase database) {
        String first = proxy.jdbcUrl().replaceFirst("jdbc:postgresql://([^/]*)/.*", "$1");
        // Without its options, which name every time-out.
        String rest = database.jdbcUrl().replaceFirst("jdbc:postgresql://([^?]*).*", "$1");
        return "jdbc:postgresql://" + first + "," + rest + "?targetServerType=primary&user=" + database.user()
                + "&password=" + database.password();
    }
}
