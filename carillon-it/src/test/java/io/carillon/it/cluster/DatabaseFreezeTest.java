package io.carillon.it.cluster;

import static io.carillon.it.cluster.ReplicatedPostgres.query;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.NodeConfig;
import io.carillon.embedded.EmbeddedPostgres;
import io.carillon.run.HandlerType;
import io.carillon.run.RunId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** PostgreSQL freezes for some time and continues: all nodes were silent together, so none is declared dead. */
class DatabaseFreezeTest {
    record Item(int number) {}

    private static final HandlerType<Item> ITEM = HandlerType.of("item", Item.class);
    private static final int NODES = 3;
    private static final int POOL = 8;

    @Tag("slow")
    @Test
    void declares_no_node_dead() throws Exception {
        freeze(
                NodeConfig.defaults().heartbeat(Duration.ofMillis(300), Duration.ofSeconds(2)),
                Duration.ofMillis(2_200));
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(ints = {11, 20, 60})
    void declares_no_node_dead_with_the_default_settings(int seconds) throws Exception {
        freeze(NodeConfig.defaults(), Duration.ofSeconds(seconds));
    }

    private static void freeze(NodeConfig config, Duration time) throws Exception {
        CountDownLatch finish = new CountDownLatch(1);
        List<AutoCloseable> opened = new ArrayList<>();
        try (EmbeddedPostgres postgres = EmbeddedPostgres.temporary().start()) {
            for (int i = 0; i < NODES; i++) {
                HikariDataSource pool = pool(postgres, "node-" + i);
                opened.add(0, pool);
                opened.add(
                        0,
                        Carillon.on(pool)
                                .config(config)
                                .handle(ITEM, (item, run) -> finish.await())
                                .start());
            }
            Carillon node = (Carillon) opened.get(0);
            RunId held = node.enqueue(ITEM, new Item(1)).run();
            await().atMost(Duration.ofSeconds(20))
                    .until(
                            () -> query(postgres, "SELECT id FROM carillon.run WHERE owner IS NOT NULL")
                                    .texts()
                                    .size(),
                            size -> size == 1);
            long before = query(postgres, "SELECT min(heartbeat_count) FROM carillon.node")
                    .number();

            await("all pools are full")
                    .atMost(Duration.ofSeconds(30))
                    .until(() ->
                            query(postgres, "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'node-%'")
                                            .texts()
                                            .size()
                                    == NODES * POOL);
            List<String> others = query(
                            postgres,
                            "SELECT pid FROM pg_stat_activity WHERE application_name IN ('node-1', 'node-2')"
                                    + " AND query NOT LIKE 'LISTEN%'")
                    .texts();
            // The postmaster first, so that no new process starts while they are listed.
            signal("STOP", List.of("" + postgres.pid()));
            List<String> all = processes(postgres);
            signal("STOP", all);
            try {
                Thread.sleep(time.toMillis()); // the duration of the fault
                // One node gets answers before the others: it sees them silent while its own heartbeats succeed.
                List<String> first = new ArrayList<>(all);
                first.removeAll(others);
                long heartbeats = resume(postgres, first);
                await().atMost(Duration.ofSeconds(30))
                        .ignoreExceptions()
                        .pollInterval(Duration.ofMillis(20))
                        .until(() -> sum(postgres) > heartbeats + 2);
            } finally {
                signal("CONT", all);
            }
            await("more heartbeats of all nodes than a declaration of death takes")
                    .atMost(Duration.ofSeconds(90))
                    .ignoreExceptions()
                    .until(
                            () -> query(
                                            postgres,
                                            "SELECT 1 FROM carillon.node WHERE dead_at IS NOT NULL"
                                                    + " OR heartbeat_count > "
                                                    + (before + 2))
                                    .texts()
                                    .size(),
                            size -> size >= NODES);

            assertThat(query(postgres, "SELECT dead_reason FROM carillon.node WHERE dead_at IS NOT NULL")
                            .texts())
                    .isEmpty();
            assertThat(node.runs().get(held).orElseThrow().attempt()).isEqualTo(1);
            finish.countDown();
            for (AutoCloseable one : opened) one.close();
        } finally {
            finish.countDown();
        }
    }

    /** Resumes these processes and returns the sum of the heartbeats before. */
    private static long resume(EmbeddedPostgres postgres, List<String> processes) throws Exception {
        signal("CONT", processes);
        return sum(postgres);
    }

    private static long sum(EmbeddedPostgres postgres) {
        return query(postgres, "SELECT sum(heartbeat_count) FROM carillon.node").number();
    }

    /** Returns the postmaster and all its children. */
    private static List<String> processes(EmbeddedPostgres postgres) {
        ProcessHandle postmaster = ProcessHandle.of(postgres.pid()).orElseThrow();
        return Stream.concat(Stream.of(postmaster), postmaster.descendants())
                .map(one -> "" + one.pid())
                .toList();
    }

    private static void signal(String name, List<String> processes) throws Exception {
        List<String> command = new ArrayList<>(List.of("kill", "-" + name));
        command.addAll(processes);
        new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }

    private static HikariDataSource pool(EmbeddedPostgres postgres, String name) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(postgres.jdbcUrl());
        config.setUsername(postgres.user());
        config.setPassword(postgres.password());
        config.addDataSourceProperty("ApplicationName", name);
        config.setMaximumPoolSize(POOL);
        return new HikariDataSource(config);
    }
}
