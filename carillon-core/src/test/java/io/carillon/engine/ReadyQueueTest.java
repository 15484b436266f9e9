package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Trials;
import io.carillon.run.Attempts;
import io.carillon.run.Lane;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReadyQueueTest {
    private static final Lane LONG = new Lane("long", "default");
    private static final Lane SHORT = new Lane("short", "default");
    private final ReadyQueue queue = new ReadyQueue();

    @Test
    void drains_lanes_in_turn_so_that_a_long_one_delays_nobody() {
        queue.add(IntStream.range(0, 100).mapToObj(i -> held(LONG)).toList());
        queue.add(List.of(held(SHORT), held(SHORT)));

        List<String> firstFive = IntStream.range(0, 5)
                .mapToObj(i -> queue.poll().attemptValue().lane().queue())
                .toList();

        assertThat(firstFive).containsExactly("long", "short", "long", "short", "long");
    }

    @Test
    void keeps_the_order_within_a_lane_and_loses_nothing() {
        Trials.of("each comes out once, in its lane's order", 500, random -> {
            ReadyQueue any = new ReadyQueue();
            Map<Lane, List<Held>> in = new HashMap<>();
            Map<Lane, List<Held>> out = new HashMap<>();
            for (int step = 0; step < 100; step++) {
                if (random.nextBoolean()) {
                    Held held = held(new Lane("q" + random.nextInt(5), "default"));
                    in.computeIfAbsent(held.attemptValue().lane(), l -> new ArrayList<>())
                            .add(held);
                    any.add(List.of(held));
                } else {
                    note(out, any.poll());
                }
                assertThat(any.size()).isEqualTo(count(in) - count(out));
            }
            any.clear().forEach(held -> note(out, held));

            assertThat(out).isEqualTo(in);
            assertThat(any.size()).isZero();
            assertThat(any.poll()).isNull();
        });
    }

    private static void note(Map<Lane, List<Held>> out, Held held) {
        if (held != null)
            out.computeIfAbsent(held.attemptValue().lane(), l -> new ArrayList<>())
                    .add(held);
    }

    private static int count(Map<Lane, List<Held>> lanes) {
        return lanes.values().stream().mapToInt(List::size).sum();
    }

    private static Held held(Lane lane) {
        return new Held(UUID.randomUUID(), Attempts.in(lane), new DatabaseClock());
    }
}
