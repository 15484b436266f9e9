package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.Priority;
import io.carillon.run.Redrive;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.Transition;
import io.carillon.store.ClaimRequest;
import io.carillon.store.Ended;
import io.carillon.store.Storage;
import io.carillon.store.Verdict;
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

/** Claimers, completers, the rescuer, the pruner, cancels and redrives on the same few rows at the same time: no deadlock surfaces, and nothing is lost or doubled. */
class RowStormTest extends StoreContract {
    private static final int THREADS = 9;
    private static final int DEEDS = 60;
    private static final int RUNS = 120;

    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    private final List<RunId> stored = Collections.synchronizedList(new ArrayList<>());
    private final Queue<String> accepted = new ConcurrentLinkedQueue<>();

    @Override
    StoreBench bench() {
        return BENCH;
    }

    @Test
    void everybody_on_the_same_rows_gets_through_and_nothing_is_lost_or_doubled() {
        long seed = Long.getLong("carillon.seed", RandomGenerator.getDefault().nextLong());
        System.out.println("row storm seed " + seed + ", repeat with -Dcarillon.seed=" + seed);
        stored.addAll(enqueue(Order.mail(), RUNS));

        Together.run(THREADS, thread -> {
            Sailor sailor = new Sailor(thread % 3 == 0 ? BENCH.another() : storage(), new Random(seed + thread));
            for (int i = 0; i < DEEDS; i++) sailor.deed();
            sailor.leave();
            return null;
        });

        assertThat(BENCH.rows().texts("""
                        SELECT id || ' ' || owner || ' ' || attempt FROM carillon.run_history WHERE state IN ('succeeded', 'dead')
                        """))
                .as("the ends that were accepted, each of the attempt that held its run, seed " + seed)
                .containsExactlyInAnyOrderElementsOf(accepted);
        assertThat(BENCH.rows().texts("""
                        SELECT id::text FROM (SELECT id FROM carillon.run UNION ALL SELECT id FROM carillon.run_history) r
                        """))
                .as("each run is alive or ended, and that once, seed " + seed)
                .containsExactlyInAnyOrderElementsOf(
                        stored.stream().map(run -> run.value().toString()).toList());
        assertThat(BENCH.rows().texts("SELECT owner::text FROM carillon.run WHERE owner IS NOT NULL"))
                .isEmpty();
    }

    private record Hold(UUID owner, Attempt attempt) {}

    /** One node with what it holds, and what it held in earlier lives. */
    private final class Sailor {
        private final Storage door;
        private final Random random;
        private final List<Hold> held = new ArrayList<>();
        private UUID me = node();

        Sailor(Storage door, Random random) {
            this.door = door;
            this.random = random;
        }

        void deed() {
            switch (random.nextInt(10)) {
                case 0, 1 -> claimSome();
                case 2, 3, 4 -> endSome();
                case 5 -> anybody(run -> door.runDesk().cancel(PROJECT, run, "enough"));
                case 6 -> redriveSome();
                case 7 -> door.nodes().sweep(3);
                case 8 -> {
                    door.housekeeping().purge(Duration.ofDays(1), Duration.ofDays(1));
                    door.housekeeping().keepPartitions(1);
                }
                default -> {
                    if (random.nextInt(4) == 0) die();
                }
            }
        }

        private void anybody(Consumer<RunId> deed) {
            deed.accept(stored.get(random.nextInt(stored.size())));
        }

        private void claimSome() {
            var quota = quota(Order.MAIL, Priority.NORMAL, 1 + random.nextInt(15));
            door.runs()
                    .claim(new ClaimRequest(me, List.of(quota), Set.of(), null, 0))
                    .attempts()
                    .forEach(attempt -> held.add(new Hold(me, attempt)));
            door.runs().claimSuspect(me, Set.of(Order.HANDLER)).ifPresent(attempt -> held.add(new Hold(me, attempt)));
        }

        /** In any order: the store has to find the one in which nobody waits for another in a ring. */
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
                door.runs().handBack(owner, some);
                return;
            }
            List<Ended> endings =
                    some.stream().map(attempt -> ended(attempt, transition())).toList();
            List<Verdict> verdicts = door.runs().apply(owner, endings);
            for (int i = 0; i < some.size(); i++) {
                Transition transition = endings.get(i).transition();
                boolean last = transition instanceof Transition.Complete || transition instanceof Transition.Die;
                if (last && verdicts.get(i) == Verdict.ACCEPTED)
                    accepted.add(some.get(i).run().value() + " " + owner + " "
                            + some.get(i).number());
            }
        }

        private Transition transition() {
            return switch (random.nextInt(5)) {
                case 0, 1 -> complete();
                case 2 -> new Transition.Die("no");
                case 3 -> new Transition.Snooze(Duration.ZERO);
                default -> new Transition.Retry(Duration.ZERO, "oops", false);
            };
        }

        private void redriveSome() {
            List<RunId> dead = door.runDesk().dead(PROJECT, RunFilter.all().limit(10));
            for (var answer : door.runDesk().redrive(PROJECT, dead))
                if (answer instanceof Redrive.Redriven redriven) stored.add(redriven.run());
        }

        /** What it held stays in its hands: it does not know yet that it is dead. */
        private void die() {
            door.nodes().retire(me);
            me = node();
            door.nodes().sweep(3);
        }

        void leave() {
            door.nodes().retire(me);
            door.nodes().sweep(3);
        }
    }
}
