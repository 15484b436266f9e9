package io.carillon.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.embedded.EmbeddedPostgres;
import io.carillon.run.HandlerType;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The database crashes under two working nodes and restarts: both continue, and no run or tick is lost or doubled. */
class DatabaseRestartTest {
    record Item(int number) {}

    private static final HandlerType<Item> ITEM = HandlerType.of("item", Item.class);
    private static final int ITEMS = 3_000;

    @Test
    void nodes_continue_automatically_after_a_crash_and_restart_of_the_database() {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.temporary()
                        .setting("fsync", "on")
                        .setting("synchronous_commit", "on")
                        .start();
                HikariDataSource one = pool(postgres);
                HikariDataSource two = pool(postgres)) {
            Map<Integer, AtomicInteger> starts = new ConcurrentHashMap<>();
            Carillon first = node(one, starts);
            Carillon second = node(two, starts);
            first.schedules().upsert("tick", When.every(Duration.ofSeconds(1)), ITEM, new Item(-1));
            first.enqueueAll(ITEM, IntStream.range(0, ITEMS).mapToObj(Item::new).toList());
            await().atMost(Duration.ofSeconds(30)).until(() -> starts.size() > ITEMS / 10);

            postgres.restartImmediately();
            Instant back = await().atMost(Duration.ofSeconds(30))
                    .ignoreExceptions()
                    .until(() -> cursor(first), Objects::nonNull);
            await().atMost(Duration.ofSeconds(30)).until(() -> starts.size() == ITEMS + 1);
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> first.runs().list(waitingItems()).isEmpty());
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> first.health().healthy() && second.health().healthy());

            assertThat(first.runs().list(RunFilter.all().handler("item").state(RunState.DEAD)))
                    .isEmpty();
            assertThat(starts.keySet())
                    .containsAll(IntStream.range(0, ITEMS).boxed().toList());
            await("a few ticks planned after the crash")
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> cursor(first).isAfter(back.plusSeconds(4)));
            first.schedules().pause("tick");
            everyInstantOnce(first);
            first.close();
            second.close();
        }
    }

    private static RunFilter waitingItems() {
        return RunFilter.all().handler("item").state(RunState.RUNNING);
    }

    private static Instant cursor(Carillon carillon) {
        return carillon.schedules().get("tick").orElseThrow().planningState().cursor();
    }

    private static void everyInstantOnce(Carillon carillon) {
        Instant until = cursor(carillon);
        List<LedgerEntry> ledger = carillon.schedules().ledger("tick", until.minus(Duration.ofHours(1)), until);
        List<Instant> instants = ledger.stream().map(LedgerEntry::from).toList();
        assertThat(instants)
                .as("instants of the ledger")
                .doesNotHaveDuplicates()
                .hasSizeGreaterThan(3);
        Map<Boolean, Long> steps = IntStream.range(1, instants.size())
                .boxed()
                .collect(Collectors.partitioningBy(
                        i -> instants.get(i).equals(instants.get(i - 1).plusSeconds(1)), Collectors.counting()));
        assertThat(steps.get(false)).as("gaps in the ledger").isZero();
    }

    private static Carillon node(HikariDataSource pool, Map<Integer, AtomicInteger> starts) {
        return Carillon.on(pool)
                .handle(
                        ITEM,
                        (item, run) -> starts.computeIfAbsent(item.number(), n -> new AtomicInteger())
                                .incrementAndGet())
                // With this look-ahead the planner advances the cursor every ten seconds instead of every minute.
                .lookAhead(Duration.ofSeconds(20))
                .start();
    }

    private static HikariDataSource pool(EmbeddedPostgres postgres) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(postgres.jdbcUrl());
        config.setUsername(postgres.user());
        config.setPassword(postgres.password());
        config.setMaximumPoolSize(8);
        config.setConnectionTimeout(2_000);
        return new HikariDataSource(config);
    }
}
