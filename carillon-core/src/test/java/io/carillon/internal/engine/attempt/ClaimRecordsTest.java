package io.carillon.internal.engine.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.internal.value.DatabaseClock;
import io.carillon.run.TestAttempts;
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

/**
 * Checks, with lost answers and failed writes in random order, that each run that this node owns is listed in one of
 * its claim records, and that notes do not accumulate.
 */
class ClaimRecordsTest {
    private final UUID owner = UUID.randomUUID();
    private final DatabaseClock clock = new DatabaseClock();
    private final ActiveAttempts activeAttempts = new ActiveAttempts(LoopReports.NONE);
    /** The claim records in the store, by number. */
    private final Map<Long, Set<OwnedRun>> notes = new HashMap<>();

    private final Set<OwnedRun> owned = new HashSet<>();
    private final List<ActiveAttempt> running = new ArrayList<>();

    @RepeatedTest(20)
    void every_owned_run_is_noted() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int step = 0; step < 500; step++) {
            switch (random.nextInt(5)) {
                case 0, 1 -> claim(1 + random.nextInt(20), random.nextInt(10) == 0);
                case 2 -> end(random, random.nextInt(40));
                case 3 -> updateNotes(random.nextInt(5) == 0, random.nextBoolean(), random.nextInt(3) == 0);
                default -> {
                    if (random.nextInt(5) == 0) reconcile();
                }
            }
            Set<OwnedRun> noted = notes.values().stream().flatMap(Set::stream).collect(Collectors.toSet());
            assertThat(noted).containsAll(owned);
        }
        end(random, Integer.MAX_VALUE);
        reconcile();
        updateNotes(false, true, false);
        assertThat(owned).isEmpty();
        assertThat(notes).isEmpty();
    }

    private void claim(int runs, boolean unanswered) {
        long claimNumber = activeAttempts.nextClaimNumber();
        List<ActiveAttempt> claimed = new ArrayList<>();
        for (int i = 0; i < runs; i++) claimed.add(new ActiveAttempt(owner, TestAttempts.any(), clock));
        Set<OwnedRun> rows = claimed.stream().map(ActiveAttempts::toOwnedRun).collect(Collectors.toSet());
        notes.put(claimNumber, rows);
        owned.addAll(rows);
        if (unanswered) return;
        claimed.forEach(activeAttempt -> {
            activeAttempt.claimNumber(claimNumber);
            activeAttempts.add(activeAttempt);
        });
        running.addAll(claimed);
        activeAttempts.recordClaimRecord(owner, claimNumber, runs);
    }

    private void end(Random random, int most) {
        for (int i = 0; i < most && !running.isEmpty(); i++) {
            ActiveAttempt one = running.remove(random.nextInt(running.size()));
            if (random.nextInt(20) == 0) {
                activeAttempts.removeUnconfirmed(one);
                continue;
            }
            owned.remove(ActiveAttempts.toOwnedRun(one));
            activeAttempts.remove(one);
        }
    }

    /** {@code compared} says that a reconciliation runs after the write and before its answer is processed. */
    private void updateNotes(boolean fails, boolean written, boolean compared) {
        activeAttempts.planRecordUpdate(owner).ifPresent(update -> {
            if (!fails || written) {
                update.removed().forEach(notes::remove);
                if (!update.remaining().isEmpty()) notes.put(update.claimNumber(), Set.copyOf(update.ownedRuns()));
            }
            if (compared) reconcile();
            if (!fails) activeAttempts.applyRecordUpdate(owner, update);
        });
    }

    private void reconcile() {
        Set<ActiveAttempt> unconfirmed = activeAttempts.unconfirmed();
        Set<Long> seen = Set.copyOf(notes.keySet());
        Set<OwnedRun> held = running.stream().map(ActiveAttempts::toOwnedRun).collect(Collectors.toSet());
        owned.retainAll(held);
        activeAttempts.markReconciled(owner, seen, unconfirmed);
    }
}
