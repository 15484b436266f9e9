package io.carillon.internal.engine.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Lane;
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

    /** Checks, with random changes, that the first ready time, the lanes that are due and the backlog are correct. */
    @RepeatedTest(20)
    void knows_what_is_next_and_what_is_due() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int step = 0; step < 1_000; step++) {
            Lane lane = lanes.get(random.nextInt(lanes.size()));
            LaneTurns.DueEntry dueEntry = turns.entry(lane, priorities.get(random.nextInt(priorities.size())));
            switch (random.nextInt(8)) {
                case 0 -> dueEntry.readyAt(Instant.MAX);
                case 1 -> dueEntry.advancePast(NOON);
                case 2 -> dueEntry.backlogged(random.nextBoolean());
                case 3 -> turns.moveBehindOthers(lane);
                case 4 -> turns.moveBehindOthers(lane.project());
                case 5 -> {
                    if (random.nextInt(20) == 0) turns.removeIdle(NOON);
                }
                default -> dueEntry.readyAt(NOON.plusSeconds(random.nextInt(60) - 30));
            }
            assertThat(turns.nextReady()).as("seed %s", seed).isEqualTo(first());
            assertThat(due()).as("seed %s", seed).isEqualTo(dueByEntries());
            assertThat(turns.hasBacklog())
                    .as("seed %s", seed)
                    .isEqualTo(entries().stream().anyMatch(LaneTurns.DueEntry::backlogged));
        }
    }

    private List<LaneTurns.DueEntry> entries() {
        return lanes.stream()
                .flatMap(lane -> turns.entriesOf(lane).values().stream())
                .toList();
    }

    private Instant first() {
        return entries().stream()
                .map(LaneTurns.DueEntry::readyAt)
                .min(Comparator.naturalOrder())
                .orElse(Instant.MAX);
    }

    private Set<Lane> dueByEntries() {
        Set<Lane> due = new HashSet<>(lanes);
        due.removeIf(lane -> turns.entriesOf(lane).values().stream()
                .allMatch(dueEntry -> dueEntry.readyAt().isAfter(NOON)));
        return due;
    }

    private Set<Lane> due() {
        Set<Lane> due = new HashSet<>();
        turns.visitDue(NOON, new LaneTurns.Visitor() {
            @Override
            public boolean visitLane(Lane lane, Map<Priority, LaneTurns.DueEntry> classes) {
                return due.add(lane);
            }

            @Override
            public boolean endProject(String project) {
                return true;
            }
        });
        return due;
    }
}
