package io.carillon.it.migration;

import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.it.frontdoor.House;
import io.carillon.postgres.migration.Migrator;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A newer version migrates the tables and takes the place of the older one, node by node, while work goes on. */
class RollingUpgradeTest {
    record Item(int number) {}

    private static final HandlerType<Item> ITEM = HandlerType.of("item", Item.class);

    /** A handler that only the newer version has. */
    private static final HandlerType<Item> NOVELTY = HandlerType.of("novelty", Item.class);

    private static final int NODES = 3;

    private final TestDatabase database = TestDatabase.migrated();
    private final House house = new House(database);
    private final Queue<Long> starts = new ConcurrentLinkedQueue<>();
    private final AtomicInteger novelties = new AtomicInteger();
    private final AtomicInteger stored = new AtomicInteger();

    @AfterEach
    void close() {
        house.close();
        database.close();
    }

    private CarillonBuilder older(CarillonBuilder builder) {
        return builder.concurrency(4).handle(ITEM, (item, run) -> starts.add(System.nanoTime()));
    }

    private CarillonBuilder newer(CarillonBuilder builder) {
        return older(builder).handle(NOVELTY, (item, run) -> novelties.incrementAndGet());
    }

    @Test
    void nothing_is_lost_or_held_up_and_old_nodes_leave_new_kinds_of_work_alone(@TempDir Path directory)
            throws Exception {
        HistoryRecorder recorder = HistoryRecorder.on(database);
        List<Carillon> old = new ArrayList<>();
        for (int i = 0; i < NODES; i++) old.add(house.node(this::older));
        Carillon client = house.client(builder -> builder);
        ScheduledExecutorService load = Executors.newSingleThreadScheduledExecutor();
        Future<?> feeding = load.scheduleAtFixedRate(
                () -> client.enqueue(ITEM, new Item(stored.incrementAndGet())), 0, 5, TimeUnit.MILLISECONDS);
        int early = 10;
        for (int i = 0; i < early; i++) client.enqueue(NOVELTY, new Item(i));
        passed(100);
        eventually()
                .until(() -> house.number("SELECT count(*) FROM carillon.run WHERE parked = 'no-handler'") == early);

        migrate(directory);
        for (Carillon leaving : old) {
            house.node(this::newer);
            client.enqueue(NOVELTY, new Item(-1));
            passed(100);
            leaving.close();
            passed(100);
        }
        assertThat(feeding.isDone()).as("the load ended before its time").isFalse();
        load.shutdown();
        assertThat(load.awaitTermination(10, TimeUnit.SECONDS)).isTrue();

        eventually().until(() -> house.number("SELECT count(*) FROM carillon.run") == 0);
        assertThat(novelties).hasValue(early + NODES);
        assertThat(starts).hasSize(stored.get());
        assertThat(house.rows("SELECT state, sum(failures), sum(crashes) FROM carillon.run_history GROUP BY 1"))
                .containsExactly(List.of("succeeded", "0", "0"));
        assertThat(longestPause()).as("the longest time without a start").isLessThan(Duration.ofSeconds(5));
        assertThat(HistoryChecker.judge(History.of(recorder.events()))).isEmpty();
    }

    /** Some more were started. */
    private void passed(int more) {
        int before = starts.size();
        eventually().until(() -> starts.size() >= before + more);
    }

    /** What a version may bring: a table, a column of the busiest table, and an index on it. */
    private void migrate(Path directory) throws Exception {
        int code = new Migrator(database.dataSource()).code();
        new NewerCode(directory)
                .bringing(
                        "%04d_more.sql".formatted(code + 1),
                        NewerCode.text(
                                "-- min_code: 1",
                                "CREATE TABLE carillon.more (x integer);",
                                "ALTER TABLE carillon.run ADD COLUMN more text;"))
                .bringing(
                        "%04d_more_index.sql".formatted(code + 2),
                        NewerCode.text(
                                "-- min_code: 1",
                                "-- transaction: off",
                                "CREATE INDEX CONCURRENTLY run_more ON carillon.run (more) WHERE more IS NOT NULL;"))
                .migrate(database.dataSource());
    }

    private Duration longestPause() {
        List<Long> sorted = starts.stream().sorted().toList();
        long longest = 0;
        for (int i = 1; i < sorted.size(); i++) longest = Math.max(longest, sorted.get(i) - sorted.get(i - 1));
        System.out.printf("upgrade: the longest time without a start was %d ms%n", longest / 1_000_000);
        return Duration.ofNanos(longest);
    }
}
