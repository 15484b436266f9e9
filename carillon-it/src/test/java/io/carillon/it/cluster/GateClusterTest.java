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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Concurrency and FIFO keys hold while nodes are killed and replaced; all times come from the database clock. */
class GateClusterTest {
    private static final int LIMITED = 60;
    private static final int CALLERS = 20;
    private static final int EACH = 3;

    @Tag("slow")
    @Test
    void concurrency_limits_and_fifo_order_hold_while_nodes_are_killed_and_replaced() throws Exception {
        try (Cluster cluster = new Cluster(Duration.ofMillis(300), Duration.ofSeconds(3), 3)) {
            List<String> limited = new ArrayList<>();
            for (int i = 0; i < LIMITED; i++)
                limited.add(id(
                        cluster.client.enqueue(WORK, new Work(60), Enqueue.now().concurrencyKey("shop", 4))));
            ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
            List<Future<List<String>>> lines = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) lines.add(callers.submit(() -> enqueueFifo(cluster)));
            for (String victim : List.of("node-1", "node-2")) {
                long before = cluster.query("SELECT count(*) FROM side_log WHERE event = 'done'")
                        .number();
                await().atMost(Duration.ofSeconds(30))
                        .until(() -> cluster.query("SELECT count(*) FROM side_log WHERE event = 'done'")
                                        .number()
                                > before + 8);
                cluster.kill(victim);
                cluster.start(victim + "-again");
            }
            callers.shutdown();

            await().atMost(Duration.ofSeconds(60))
                    .until(() -> cluster.query("SELECT count(*) FROM carillon.run_history WHERE state = 'succeeded'")
                                    .number()
                            == LIMITED + CALLERS * EACH);
            List<String> ordered =
                    cluster.query("SELECT run FROM side_log WHERE event = 'done' ORDER BY at").rows().stream()
                            .flatMap(List::stream)
                            .distinct()
                            .filter(run -> !limited.contains(run))
                            .toList();
            assertThat(ordered).hasSize(CALLERS * EACH);
            for (Future<List<String>> line : lines)
                assertThat(ordered).as("order of the runs of one caller").containsSubsequence(line.get());
            assertThat(cluster.maxConcurrent(limited)).isBetween(2L, 4L);
            assertThat(cluster.maxConcurrent(ordered)).isEqualTo(1);
            assertThat(HistoryChecker.check(cluster.finalHistory()
                            .expectLimit(Set.copyOf(limited), 4)
                            .expectOrder(ordered)))
                    .isEmpty();
        }
    }

    /** Enqueues runs one by one: each is stored before the next. */
    private static List<String> enqueueFifo(Cluster cluster) {
        List<String> mine = new ArrayList<>();
        for (int i = 0; i < EACH; i++)
            mine.add(id(cluster.client.enqueue(WORK, new Work(20), Enqueue.now().fifoKey("account"))));
        return mine;
    }

    private static String id(EnqueueResult result) {
        return result.run().toString();
    }
}
