package io.carillon.internal.engine.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ClusterSizeTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration TEN = Duration.ofSeconds(10);

    /** Returns the given number of nodes, which all know each other. */
    private static List<ClusterSize> cluster(int size) {
        List<UUID> ids = Stream.generate(UUID::randomUUID).limit(size).toList();
        List<ClusterSize> nodes = new ArrayList<>();
        for (UUID me : ids) {
            Set<UUID> peers = new HashSet<>(ids);
            peers.remove(me);
            ClusterSize clusterSize = new ClusterSize();
            clusterSize.update(me, peers);
            nodes.add(clusterSize);
        }
        return nodes;
    }

    @Test
    void all_nodes_of_a_small_cluster_react() {
        for (int number = 0; number < 100; number++) {
            int randomNumber = number;
            assertThat(cluster(4)).allMatch(node -> node.isSelected(randomNumber));
            assertThat(new ClusterSize().isSelected(randomNumber))
                    .as("a node alone")
                    .isTrue();
        }
    }

    @Test
    void three_nodes_of_a_large_cluster_react_and_each_equally_often() {
        List<ClusterSize> cluster = cluster(20);
        int[] selections = new int[20];
        for (int number = 0; number < 2_000; number++) {
            int selected = 0;
            for (int i = 0; i < cluster.size(); i++)
                if (cluster.get(i).isSelected(number)) {
                    selections[i]++;
                    selected++;
                }
            assertThat(selected).as("nodes selected by the number %d", number).isEqualTo(3);
        }
        assertThat(selections).containsOnly(300);
    }

    @Test
    void intervals_grow_with_the_cluster_up_to_a_bound() {
        assertThat(cluster(4).get(0).scaledInterval(SECOND, TEN)).isEqualTo(SECOND);
        assertThat(cluster(8).get(0).scaledInterval(SECOND, TEN)).isEqualTo(Duration.ofSeconds(2));
        assertThat(cluster(100).get(0).scaledInterval(SECOND, TEN)).isEqualTo(TEN);
        assertThat(cluster(100).get(0).scaledInterval(TEN, SECOND))
                .as("never shorter than the interval")
                .isEqualTo(TEN);
    }

    @Test
    void reports_the_loss_of_half_of_the_nodes_and_not_each_departure() {
        ClusterSize clusterSize = new ClusterSize();
        AtomicInteger notified = new AtomicInteger();
        clusterSize.onShrunk(notified::incrementAndGet);
        UUID me = UUID.randomUUID();
        List<UUID> peers = Stream.generate(UUID::randomUUID).limit(99).toList();

        for (int left = 99; left > 49; left--) clusterSize.update(me, Set.copyOf(peers.subList(0, left)));
        assertThat(notified).hasValue(0);

        clusterSize.update(me, Set.copyOf(peers.subList(0, 49)));
        assertThat(notified).hasValue(1);
        clusterSize.update(me, Set.of());
        assertThat(notified).hasValue(2);
    }
}
