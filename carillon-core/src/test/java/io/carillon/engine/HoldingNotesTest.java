package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempts;
import io.carillon.store.HeldRun;
import io.carillon.value.DatabaseClock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.RepeatedTest;

/** Whatever gets lost on the way: each run that the store says is this node's stands in one of its notes, and notes do not pile up. */
class HoldingNotesTest {
    private final UUID owner = UUID.randomUUID();
    private final DatabaseClock clock = new DatabaseClock();
    private final Holding holding = new Holding();
    /** What the store has. */
    private final Map<Long, Set<HeldRun>> notes = new HashMap<>();

    private final Set<HeldRun> owned = new HashSet<>();
    private final List<Held> running = new ArrayList<>();

    @RepeatedTest(20)
    void every_owned_run_is_noted() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int step = 0; step < 500; step++) {
            switch (random.nextInt(5)) {
                case 0, 1 -> claim(1 + random.nextInt(20), random.nextInt(10) == 0);
                case 2 -> end(random, random.nextInt(40));
                case 3 -> rewrite(random.nextInt(5) == 0, random.nextBoolean(), random.nextInt(3) == 0);
                default -> {
                    if (random.nextInt(5) == 0) compare();
                }
            }
            Set<HeldRun> noted = notes.values().stream().flatMap(Set::stream).collect(Collectors.toSet());
            assertThat(noted).containsAll(owned);
        }
        end(random, Integer.MAX_VALUE);
        compare();
        rewrite(false, true, false);
        assertThat(owned).isEmpty();
        assertThat(notes).isEmpty();
    }

    private void claim(int runs, boolean unanswered) {
        long note = holding.nextNote();
        List<Held> claimed = new ArrayList<>();
        for (int i = 0; i < runs; i++) claimed.add(new Held(owner, Attempts.any(), clock));
        Set<HeldRun> rows = claimed.stream().map(Holding::row).collect(Collectors.toSet());
        notes.put(note, rows);
        owned.addAll(rows);
        if (unanswered) return;
        claimed.forEach(held -> {
            held.note(note);
            holding.add(held);
        });
        running.addAll(claimed);
        holding.noted(owner, note, runs);
    }

    private void end(Random random, int most) {
        for (int i = 0; i < most && !running.isEmpty(); i++) {
            Held one = running.remove(random.nextInt(running.size()));
            if (random.nextInt(20) == 0) {
                holding.removeUnconfirmed(one);
                continue;
            }
            owned.remove(Holding.row(one));
            holding.remove(one);
        }
    }

    /** {@code compared}: between the write and what is made of its answer. */
    private void rewrite(boolean fails, boolean written, boolean compared) {
        holding.rewrite(owner).ifPresent(rewrite -> {
            if (!fails || written) {
                rewrite.gone().forEach(notes::remove);
                if (!rewrite.left().isEmpty()) notes.put(rewrite.note(), Set.copyOf(rewrite.rows()));
            }
            if (compared) compare();
            if (!fails) holding.rewritten(owner, rewrite);
        });
    }

    private void compare() {
        Set<Held> settled = holding.unconfirmed();
        Set<Long> seen = Set.copyOf(notes.keySet());
        Set<HeldRun> held = running.stream().map(Holding::row).collect(Collectors.toSet());
        owned.retainAll(held);
        holding.compared(owner, seen, settled);
    }
}
