package io.carillon.it.cluster;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.cli.shell.ConnectionPools;
import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.run.HandlerType;
import io.carillon.run.RunId;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;

/**
 * The primary freezes without closing its connections, as a stopped machine does, and its synchronous standby is
 * promoted. Nodes with both hosts in their URL leave the frozen host and continue on the other.
 */
class FrozenHostTest {
    record Item(int number) {}

    private static final HandlerType<Item> COMMAND = HandlerType.of("command", Item.class);
    private static final HandlerType<Item> LIBRARY = HandlerType.of("library", Item.class);
    private static final Duration SOON = Duration.ofSeconds(30);

    /** The attempts that handlers executed, by run. */
    private final Map<RunId, List<Integer>> executed = new ConcurrentHashMap<>();

    /** The time of the first start, by run. */
    private final Map<RunId, Long> firstStarts = new ConcurrentHashMap<>();

    private final Queue<RunId> confirmed = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean writing = new AtomicBoolean(true);

    @SuppressWarnings("try") // the nodes need no calls
    @Tag("slow")
    @RepeatedTest(3)
    void nodes_leave_the_frozen_host_within_30_seconds_and_no_confirmed_run_is_lost_or_doubled() throws Exception {
        try (ReplicatedPostgres postgres = new ReplicatedPostgres();
                HikariDataSource shipped = ConnectionPools.open(DatabaseUrl.parse(postgres.url()), 12);
                HikariDataSource documented = documentedPool(postgres.url());
                HikariDataSource writers = documentedPool(postgres.url());
                HikariDataSource direct = directPool(postgres)) {
            try (Carillon one = node(shipped, COMMAND);
                    Carillon other = node(documented, LIBRARY);
                    Carillon writer = Carillon.on(writers).build()) {
                assertThat(ReplicatedPostgres.query(postgres.primary, "SELECT sync_state FROM pg_stat_replication")
                                .texts())
                        .containsExactly("sync");
                Thread writes = new Thread(() -> write(writer), "writer");
                writes.start();
                await().atMost(SOON).until(() -> executed.size() >= 100);

                postgres.freezePrimary();
                long frozen = System.nanoTime();
                int before = confirmed.size();
                postgres.promote();
                try (Carillon client = Carillon.on(direct).build()) {
                    RunId first = client.enqueue(COMMAND, new Item(-1)).run();
                    RunId second = client.enqueue(LIBRARY, new Item(-2)).run();
                    await("both nodes leave the frozen host")
                            .atMost(Duration.ofSeconds(100))
                            .until(() -> executed.containsKey(first) && executed.containsKey(second));
                    double command = seconds(frozen, first);
                    double library = seconds(frozen, second);
                    System.out.printf(
                            "after the freeze the node with the pool of the command continued after %.1f s,"
                                    + " the node with the documented pool of the library after %.1f s%n",
                            command, library);
                    await("the writer leaves the frozen host")
                            .atMost(Duration.ofSeconds(60))
                            .until(() -> confirmed.size() > before + 20);
                    writing.set(false);
                    writes.join();
                    int all = confirmed.size() + 2;
                    System.out.printf("%d runs confirmed before the freeze, %d after it%n", before, all - 2 - before);

                    await("all confirmed runs end")
                            .atMost(Duration.ofSeconds(60))
                            .until(() -> ended(postgres).keySet().containsAll(confirmed));
                    Map<RunId, Integer> ended = ended(postgres);
                    assertThat(ended).hasSizeGreaterThanOrEqualTo(all);
                    ended.forEach((run, attempt) -> assertThat(executed.get(run))
                            .as("%s, ended in attempt %d", run, attempt)
                            .doesNotHaveDuplicates()
                            .contains(attempt));
                    assertThat(List.of(command, library))
                            .allSatisfy(seconds -> assertThat(seconds).isLessThanOrEqualTo(30));
                }
            } finally {
                writing.set(false);
            }
        }
    }

    private double seconds(long since, RunId run) {
        return (requireNonNull(firstStarts.get(run)) - since) / 1e9;
    }

    /** Enqueues continuously; only confirmed runs count. */
    private void write(Carillon writer) {
        for (int number = 0; writing.get(); number++) {
            try {
                confirmed.add(writer.enqueue(number % 2 == 0 ? COMMAND : LIBRARY, new Item(number))
                        .run());
            } catch (RuntimeException unanswered) {
                // The run may or may not be stored.
            }
        }
    }

    private Carillon node(HikariDataSource pool, HandlerType<Item> type) {
        return Carillon.on(pool)
                .handle(type, (item, run) -> {
                    firstStarts.putIfAbsent(run.id(), System.nanoTime());
                    executed.computeIfAbsent(run.id(), id -> new CopyOnWriteArrayList<>())
                            .add(run.attempt());
                })
                .start();
    }

    /** Returns the attempt in which each run succeeded, read from the new primary. */
    private static Map<RunId, Integer> ended(ReplicatedPostgres postgres) throws SQLException {
        Map<RunId, Integer> ended = new java.util.HashMap<>();
        for (String row : ReplicatedPostgres.query(
                        postgres.standby,
                        "SELECT id || ' ' || attempt FROM carillon.run_history WHERE state = 'succeeded'")
                .texts()) {
            String[] parts = row.split(" ", -1);
            Integer twice = ended.put(new RunId(java.util.UUID.fromString(parts[0])), Integer.parseInt(parts[1]));
            assertThat(twice).as("ended twice: " + parts[0]).isNull();
        }
        return ended;
    }

    /** The settings that docs/operations.md gives for the library. */
    private static HikariDataSource documentedPool(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url + "&connectTimeout=5&socketTimeout=10&loginTimeout=30&tcpKeepAlive=true");
        config.setMaximumPoolSize(12);
        config.setConnectionTimeout(10_000);
        config.setValidationTimeout(2_000);
        return new HikariDataSource(config);
    }

    private static HikariDataSource directPool(ReplicatedPostgres postgres) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(postgres.standby.jdbcUrl());
        config.setUsername(postgres.standby.user());
        config.setPassword(postgres.standby.password());
        config.setMaximumPoolSize(4);
        return new HikariDataSource(config);
    }
}
