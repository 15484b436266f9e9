package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Lane;
import io.carillon.run.Priority;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.RepeatedTest;

class LaneTurnsTest {
    private static final Instant NOON = Instant.parse("2026-05-04T12:00:00Z");

    private final LaneTurns turns = new LaneTurns();
    private final List<Lane> lanes = new ArrayList<>();
    private final List<Priority> priorities = List.of(Priority.values());

    LaneTurnsTest() {
        for (int project = 0; project < 5; project++)
            for (int queue = 0; queue < 6; queue++) lanes.add(new Lane("queue-" + queue, "project-" + project));
    }

    /** Whatever changes in whatever order: it knows the first, shows all that are due, and knows whether something flows. */
    @RepeatedTest(20)
    void knows_what_is_next_and_what_is_due() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int step = 0; step < 1_000; step++) {
            Lane lane = lanes.get(random.nextInt(lanes.size()));
            LaneTurns.Entry entry = turns.entry(lane, priorities.get(random.nextInt(priorities.size())));
            switch (random.nextInt(8)) {
                case 0 -> entry.readyAt(Instant.MAX);
                case 1 -> entry.taken(NOON);
                case 2 -> entry.flowing(random.nextBoolean());
                case 3 -> turns.served(lane);
                case 4 -> turns.served(lane.project());
                case 5 -> {
                    if (random.nextInt(20) == 0) turns.tidy(NOON);
                }
                default -> entry.readyAt(NOON.plusSeconds(random.nextInt(60) - 30));
            }
            assertThat(turns.next()).as("seed %s", seed).isEqualTo(first());
            assertThat(due()).as("seed %s", seed).isEqualTo(dueByEntries());
            assertThat(turns.anyFlowing())
                    .as("seed %s", seed)
                    .isEqualTo(entries().stream().anyMatch(LaneTurns.Entry::flowing));
        }
    }

    private List<LaneTurns.Entry> entries() {
        return lanes.stream()
                .flatMap(lane -> turns.classes(lane).values().stream())
                .toList();
    }

    private Instant first() {
        return entries().stream()
                .map(LaneTurns.Entry::readyAt)
                .min(Comparator.naturalOrder())
                .orElse(Instant.MAX);
    }

    private Set<Lane> dueByEntries() {
        Set<Lane> due = new HashSet<>(lanes);
        due.removeIf(lane -> turns.classes(lane).values().stream()
                .allMatch(entry -> entry.readyAt().isAfter(NOON)));
        return due;
    }

    private Set<Lane> due() {
        Set<Lane> due = new HashSet<>();
        turns.due(NOON, new LaneTurns.Visitor() {
            @Override
            public boolean lane(Lane lane, Map<Priority, LaneTurns.Entry> classes) {
                return due.add(lane);
            }

            @Override
            public boolean project(String project) {
                return true;
            }
        });
        return due;
    }
}
