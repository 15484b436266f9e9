package io.carillon.it.race;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.Priority;
import io.carillon.run.RedriveResult;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Claims, endings, rescues, purges, cancels and redrives act on the same few rows concurrently: no deadlock reaches a
 * caller, and no run is lost or duplicated.
 */
class RowContentionTest extends StoreContract {
    private static final int THREADS = 9;
    private static final int STEPS_PER_THREAD = 60;
    private static final int RUNS = 120;

    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    private final List<RunId> stored = Collections.synchronizedList(new ArrayList<>());
    private final Queue<String> accepted = new ConcurrentLinkedQueue<>();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @Test
    void all_operations_on_the_same_rows_complete_and_no_run_is_lost_or_duplicated() {
        long seed = Long.getLong("carillon.seed", RandomGenerator.getDefault().nextLong());
        System.out.println("row contention seed " + seed + ", repeat with -Dcarillon.seed=" + seed);
        stored.addAll(enqueue(RunSpec.mail(), RUNS));

        Concurrently.run(THREADS, thread -> {
            ContendingThread stressThread = new ContendingThread(
                    thread % 3 == 0 ? FIXTURE.secondStorage() : storage(), new Random(seed + thread));
            for (int i = 0; i < STEPS_PER_THREAD; i++) stressThread.step();
            stressThread.leave();
            return null;
        });
        // A rescue skips rows that another thread has locked at that moment; the next rescue decides about them.
        storage().nodes().rescue(3);

        assertThat(FIXTURE.query("""
                        SELECT id || ' ' || owner || ' ' || attempt FROM carillon.run_history
                          WHERE state IN ('succeeded', 'dead')
                        """).texts())
                .as("history has exactly the accepted endings, seed " + seed)
                .containsExactlyInAnyOrderElementsOf(accepted);
        assertThat(FIXTURE.query("""
                        SELECT id::text FROM (SELECT id FROM carillon.run UNION ALL SELECT id
                          FROM carillon.run_history) r
                        """).texts())
                .as("each run exists once, live or ended, seed " + seed)
                .containsExactlyInAnyOrderElementsOf(
                        stored.stream().map(run -> run.value().toString()).toList());
        assertThat(FIXTURE.query("SELECT owner::text FROM carillon.run WHERE owner IS NOT NULL")
                        .texts())
                .isEmpty();
    }

    private record Hold(UUID owner, Attempt attempt) {}

    /** A thread with its current node and the attempts that its current and earlier nodes hold. */
    private final class ContendingThread {
        private final Storage storage;
        private final Random random;
        private final List<Hold> held = new ArrayList<>();
        private UUID node = node();

        ContendingThread(Storage storage, Random random) {
            this.storage = storage;
            this.random = random;
        }

        void step() {
            switch (random.nextInt(10)) {
                case 0, 1 -> claimSome();
                case 2, 3, 4 -> endSome();
                case 5 -> onAnyRun(run -> storage.runAdmin().cancel(PROJECT, run, "enough"));
                case 6 -> redriveSome();
                case 7 -> storage.nodes().rescue(3);
                case 8 -> {
                    storage.maintenance().purge(Duration.ofDays(1), Duration.ofDays(1));
                    storage.maintenance().ensurePartitions(1);
                }
                default -> {
                    if (random.nextInt(4) == 0) die();
                }
            }
        }

        private void onAnyRun(Consumer<RunId> action) {
            action.accept(stored.get(random.nextInt(stored.size())));
        }

        private void claimSome() {
            var laneClaim = laneClaim(RunSpec.MAIL, Priority.NORMAL, 1 + random.nextInt(15));
            storage.runs()
                    .claim(new ClaimRequest(node, List.of(laneClaim), Set.of(), null, 0))
                    .attempts()
                    .forEach(attempt -> held.add(new Hold(node, attempt)));
            storage.runs()
                    .claimOneIsolated(node, Set.of(RunSpec.HANDLER))
                    .ifPresent(attempt -> held.add(new Hold(node, attempt)));
        }

        /** Sends the endings in random order; the store must lock the rows in an order without deadlocks. */
        private void endSome() {
            Collections.shuffle(held, random);
            List<Hold> some = List.copyOf(held.subList(0, random.nextInt(held.size() + 1)));
            held.removeAll(some);
            some.stream()
                    .map(Hold::owner)
                    .distinct()
                    .forEach(owner -> end(
                            owner,
                            some.stream()
                                    .filter(hold -> hold.owner().equals(owner))
                                    .map(Hold::attempt)
                                    .toList()));
        }

        private void end(UUID owner, List<Attempt> some) {
            if (random.nextInt(5) == 0) {
                storage.runs().handBack(owner, some);
                return;
            }
            List<EndedAttempt> endings =
                    some.stream().map(attempt -> ended(attempt, transition())).toList();
            List<WriteResult> verdicts = storage.runs().apply(owner, endings);
            for (int i = 0; i < some.size(); i++) {
                Transition transition = endings.get(i).transition();
                boolean last = transition instanceof Transition.Complete || transition instanceof Transition.MarkDead;
                if (last && verdicts.get(i) == WriteResult.ACCEPTED)
                    accepted.add(some.get(i).run().value() + " " + owner + " "
                            + some.get(i).number());
            }
        }

        private Transition transition() {
            return switch (random.nextInt(5)) {
                case 0, 1 -> complete();
                case 2 -> new Transition.MarkDead("no");
                case 3 -> new Transition.Snooze(Duration.ZERO);
                default -> new Transition.Retry(Duration.ZERO, "oops", false);
            };
        }

        private void redriveSome() {
            List<RunId> dead = storage.runAdmin().dead(PROJECT, RunFilter.all().limit(10));
            for (var answer : storage.runAdmin().redrive(PROJECT, dead))
                if (answer instanceof RedriveResult.Redriven redriven) stored.add(redriven.run());
        }

        /** Retires the node. The thread keeps its attempts, like a node that does not know yet that it is dead. */
        private void die() {
            storage.nodes().retire(node);
            node = node();
            storage.nodes().rescue(3);
        }

        void leave() {
            storage.nodes().retire(node);
            storage.nodes().rescue(3);
        }
    }
}
