package io.carillon.it.cluster;

import static io.carillon.it.cluster.ClusterNode.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.QueueLimits;
import io.carillon.it.cluster.ClusterNode.Work;
import io.carillon.testkit.History;
import io.carillon.testkit.HistoryChecker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The limit of a queue holds while nodes are killed and replaced; all times come from the database clock. */
class LimitClusterTest {
    private static final int RUNS = 150;

    @Tag("slow")
    @Test
    void a_limit_holds_while_nodes_are_killed_and_replaced() {
        try (Cluster cluster = new Cluster(Duration.ofMillis(300), Duration.ofSeconds(3), 3)) {
            cluster.client.queues().limit("work", QueueLimits.maxRunning(6));
            List<String> all = new ArrayList<>();
            for (int i = 0; i < RUNS; i++)
                all.add(cluster.client.enqueue(WORK, new Work(60)).run().toString());
            for (String victim : List.of("node-1", "node-2")) {
                long before = done(cluster);
                await().atMost(Duration.ofSeconds(30)).until(() -> done(cluster) > before + 20);
                cluster.kill(victim);
                cluster.start(victim + "-again");
            }

            await().atMost(Duration.ofSeconds(60))
                    .until(() -> cluster.query("SELECT count(*) FROM carillon.run_history WHERE state = 'succeeded'")
                                    .number()
                            == RUNS);
            assertThat(cluster.maxConcurrent(all)).isBetween(3L, 6L);
            History history = cluster.finalHistory().expectLimit(Set.copyOf(all), 6);
            assertThat(HistoryChecker.check(history)).isEmpty();
            assertThat(HistoryChecker.maxConcurrent(history, Set.copyOf(all)))
                    .as("runs leased at the same time")
                    .isGreaterThanOrEqualTo(3);
            assertThat(cluster.query("SELECT count(DISTINCT node) FROM side_log WHERE event = 'done'")
                            .number())
                    .as("nodes that executed runs")
                    .isGreaterThan(1);
        }
    }

    private static long done(Cluster cluster) {
        return cluster.query("SELECT count(*) FROM side_log WHERE event = 'done'")
                .number();
    }
}
