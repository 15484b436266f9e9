package io.carillon.it.cluster;

import static io.carillon.it.cluster.ClusterNode.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.it.cluster.ClusterNode.Work;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.testkit.HistoryChecker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Limits and orders of keys hold while nodes are killed and replaced; all times are the database's. */
class GateClusterTest {
    private static final int LIMITED = 60;
    private static final int ORDERED = 40;

    @Test
    void limits_and_orders_hold_while_nodes_are_killed_and_replaced() {
        try (Cluster cluster = new Cluster(Duration.ofMillis(300), Duration.ofSeconds(3), 3)) {
            List<String> limited = new ArrayList<>();
            List<String> ordered = new ArrayList<>();
            for (int i = 0; i < LIMITED; i++)
                limited.add(id(
                        cluster.client.enqueue(WORK, new Work(60), Enqueue.now().concurrencyKey("shop", 4))));
            for (int i = 0; i < ORDERED; i++)
                ordered.add(id(
                        cluster.client.enqueue(WORK, new Work(20), Enqueue.now().fifoKey("account"))));
            for (String victim : List.of("node-1", "node-2")) {
                long before = cluster.number("SELECT count(*) FROM side_log WHERE event = 'done'");
                await().atMost(Duration.ofSeconds(30))
                        .until(() -> cluster.number("SELECT count(*) FROM side_log WHERE event = 'done'") > before + 8);
                cluster.kill(victim);
                cluster.start(victim + "-again");
            }

            await().atMost(Duration.ofSeconds(60))
                    .until(() -> cluster.number("SELECT count(*) FROM carillon.run_history WHERE state = 'succeeded'")
                            == LIMITED + ORDERED);
            assertThat(cluster.mostAtOnce(limited)).isBetween(2L, 4L);
            assertThat(cluster.mostAtOnce(ordered)).isEqualTo(1);
            HistoryChecker history = cluster.history();
            assertThat(history.complaints()).isEmpty();
            assertThat(history.unended()).isEmpty();
            assertThat(history.mostAtOnce(Set.copyOf(limited))).isLessThanOrEqualTo(4);
            assertThat(history.outOfOrder(ordered)).isEmpty();
            List<String> order = cluster
                    .rows(
                            "SELECT run FROM side_log WHERE event = 'done' AND run = ANY (string_to_array(?, ',')) GROUP BY run ORDER BY min(at)",
                            String.join(",", ordered))
                    .stream()
                    .flatMap(List::stream)
                    .toList();
            assertThat(order).isEqualTo(ordered);
        }
    }

    private static String id(EnqueueResult result) {
        return result.run().toString();
    }
}
