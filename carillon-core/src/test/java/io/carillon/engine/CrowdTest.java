package io.carillon.engine;

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

class CrowdTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration TEN = Duration.ofSeconds(10);

    /** So many nodes that all know each other. */
    private static List<Crowd> crowd(int size) {
        List<UUID> ids = Stream.generate(UUID::randomUUID).limit(size).toList();
        List<Crowd> crowds = new ArrayList<>();
        for (UUID me : ids) {
            Set<UUID> peers = new HashSet<>(ids);
            peers.remove(me);
            Crowd crowd = new Crowd();
            crowd.seen(me, peers);
            crowds.add(crowd);
        }
        return crowds;
    }

    @Test
    void of_a_handful_all_go() {
        for (int lot = 0; lot < 100; lot++) {
            int drawn = lot;
            assertThat(crowd(4)).allMatch(node -> node.chosen(drawn));
            assertThat(new Crowd().chosen(drawn)).as("a node alone").isTrue();
        }
    }

    @Test
    void of_more_three_go_and_each_as_often_as_the_others() {
        List<Crowd> crowd = crowd(20);
        int[] went = new int[20];
        for (int lot = 0; lot < 2_000; lot++) {
            int gone = 0;
            for (int i = 0; i < crowd.size(); i++)
                if (crowd.get(i).chosen(lot)) {
                    went[i]++;
                    gone++;
                }
            assertThat(gone).as("nodes that go for lot %d", lot).isEqualTo(3);
        }
        assertThat(went).containsOnly(300);
    }

    @Test
    void pauses_grow_with_the_crowd_up_to_a_bound() {
        assertThat(crowd(4).get(0).stretched(SECOND, TEN)).isEqualTo(SECOND);
        assertThat(crowd(8).get(0).stretched(SECOND, TEN)).isEqualTo(Duration.ofSeconds(2));
        assertThat(crowd(100).get(0).stretched(SECOND, TEN)).isEqualTo(TEN);
        assertThat(crowd(100).get(0).stretched(TEN, SECOND))
                .as("never shorter than asked")
                .isEqualTo(TEN);
    }

    @Test
    void tells_when_half_of_the_nodes_are_gone_and_not_for_each_that_leaves() {
        Crowd crowd = new Crowd();
        AtomicInteger told = new AtomicInteger();
        crowd.onShrunk(told::incrementAndGet);
        UUID me = UUID.randomUUID();
        List<UUID> peers = Stream.generate(UUID::randomUUID).limit(99).toList();

        for (int left = 99; left > 49; left--) crowd.seen(me, Set.copyOf(peers.subList(0, left)));
        assertThat(told).hasValue(0);

        crowd.seen(me, Set.copyOf(peers.subList(0, 49)));
        assertThat(told).hasValue(1);
        crowd.seen(me, Set.of());
        assertThat(told).hasValue(2);
    }
}
