package io.carillon.it.migration;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.internal.postgres.migration.Migrator;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.testkit.History;
import io.carillon.testkit.HistoryChecker;
import io.carillon.testkit.HistoryRecorder;
import io.carillon.testkit.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A newer version migrates the tables and replaces the older one node by node while runs are executed. */
class RollingUpgradeTest {
    record Item(int number) {}

    private static final HandlerType<Item> ITEM = HandlerType.of("item", Item.class);

    /** A handler that only the newer version has. */
    private static final HandlerType<Item> NOVELTY = HandlerType.of("novelty", Item.class);

    private static final int NODES = 3;

    private final TestDatabase database = TestDatabase.migrated();
    private final ApiFixture fixture = new ApiFixture(database);
    private final Queue<Long> starts = new ConcurrentLinkedQueue<>();
    private final AtomicInteger novelties = new AtomicInteger();
    private final AtomicInteger stored = new AtomicInteger();

    @AfterEach
    void close() {
        fixture.close();
        database.close();
    }

    private CarillonBuilder older(CarillonBuilder builder) {
        return builder.concurrency(4).handle(ITEM, (item, run) -> starts.add(System.nanoTime()));
    }

    private CarillonBuilder newer(CarillonBuilder builder) {
        return older(builder).handle(NOVELTY, (item, run) -> novelties.incrementAndGet());
    }

    @Tag("slow")
    @Test
    void no_run_is_lost_or_delayed_and_old_nodes_do_not_claim_new_handlers(@TempDir Path directory) throws Exception {
        HistoryRecorder recorder = HistoryRecorder.on(database);
        List<Carillon> old = new ArrayList<>();
        for (int i = 0; i < NODES; i++) old.add(fixture.node(this::older));
        Carillon client = fixture.client(builder -> builder);
        ScheduledExecutorService load = Executors.newSingleThreadScheduledExecutor();
        Future<?> feeding = load.scheduleAtFixedRate(
                () -> client.enqueue(ITEM, new Item(stored.incrementAndGet())), 0, 5, TimeUnit.MILLISECONDS);
        int early = 10;
        for (int i = 0; i < early; i++) client.enqueue(NOVELTY, new Item(i));
        awaitStarts(100);
        eventually()
                .until(() -> fixture.query("SELECT count(*) FROM carillon.run WHERE parked = 'no-handler'")
                                .number()
                        == early);

        migrate(directory);
        for (Carillon leaving : old) {
            fixture.node(this::newer);
            client.enqueue(NOVELTY, new Item(-1));
            awaitStarts(100);
            leaving.close();
            awaitStarts(100);
        }
        assertThat(feeding.isDone()).as("the load ended too early").isFalse();
        load.shutdown();
        assertThat(load.awaitTermination(10, TimeUnit.SECONDS)).isTrue();

        eventually()
                .until(() -> fixture.query("SELECT count(*) FROM carillon.run").number() == 0);
        assertThat(novelties).hasValue(early + NODES);
        assertThat(starts).hasSize(stored.get());
        assertThat(fixture.query("SELECT state, sum(failures), sum(crashes) FROM carillon.run_history GROUP BY 1")
                        .rows())
                .containsExactly(List.of("succeeded", "0", "0"));
        assertThat(longestDelay()).as("the longest time without a start").isLessThan(Duration.ofSeconds(5));
        assertThat(HistoryChecker.check(History.of(recorder.events()))).isEmpty();
    }

    /** Waits until this many more runs have started. */
    private void awaitStarts(int more) {
        int before = starts.size();
        eventually().until(() -> starts.size() >= before + more);
    }

    /** Applies a migration of a typical version: a table, a column of the run table, and an index on it. */
    private void migrate(Path directory) throws Exception {
        int code = new Migrator(database.dataSource()).newestNumber();
        new NewerCode(directory)
                .withFile(
                        "%04d_more.sql".formatted(code + 1),
                        NewerCode.text(
                                "-- min_code: 1",
                                "CREATE TABLE carillon.more (x integer);",
                                "ALTER TABLE carillon.run ADD COLUMN more text;"))
                .withFile(
                        "%04d_more_index.sql".formatted(code + 2),
                        NewerCode.text(
                                "-- min_code: 1",
                                "-- transaction: off",
                                "CREATE INDEX CONCURRENTLY run_more ON carillon.run (more) WHERE more IS NOT NULL;"))
                .migrate(database.dataSource());
    }

    private Duration longestDelay() {
        List<Long> sorted = starts.stream().sorted().toList();
        long longest = 0;
        for (int i = 1; i < sorted.size(); i++) longest = Math.max(longest, sorted.get(i) - sorted.get(i - 1));
        System.out.printf("rolling upgrade: longest time without a start ms=%d%n", longest / 1_000_000);
        return Duration.ofNanos(longest);
    }
}
