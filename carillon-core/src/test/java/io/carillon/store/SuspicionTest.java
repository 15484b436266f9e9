package io.carillon.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.store.Suspicion.Candidate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class SuspicionTest {
    @Test
    void the_first_shared_death_leads_to_no_isolation_and_a_long_run_is_isolated_after_five() {
        assertThat(Suspicion.isolated(1, false, false)).isFalse();
        assertThat(Suspicion.isolated(1, false, true)).isTrue();
        assertThat(Suspicion.isolated(2, false, false)).isTrue();
        assertThat(Suspicion.isolated(4, true, true)).isFalse();
        assertThat(Suspicion.isolated(5, true, false)).isTrue();
    }

    @Test
    void probation_is_ten_seconds_and_grows_only_for_runs_that_share_deaths_in_spite_of_it() {
        assertThat(IntStream.rangeClosed(0, 4).mapToObj(Suspicion::probation)).containsOnly(Duration.ofSeconds(10));
        assertThat(Suspicion.probation(5)).isEqualTo(Duration.ofSeconds(40));
        assertThat(Suspicion.probation(100)).isEqualTo(Duration.ofSeconds(640));
    }

    @Test
    void groups_are_of_one_handler_and_those_with_the_fewest_deaths_come_first() {
        List<Candidate> waiting = new ArrayList<>();
        for (int i = 0; i < 30; i++) waiting.add(new Candidate("a" + i, "a", 3));
        for (int i = 0; i < 5; i++) waiting.add(new Candidate("b" + i, "b", 2));

        List<Candidate> first = Suspicion.group(waiting, 50, new Random(1));
        waiting.removeAll(first);

        assertThat(first).hasSize(5).extracting(Candidate::handler).containsOnly("b");
        assertThat(Suspicion.group(waiting, 50, new Random(1))).hasSize(10);
        assertThat(Suspicion.group(waiting, 4, new Random(1))).hasSize(4);
        assertThat(Suspicion.group(List.of(), 4, new Random(1))).isEmpty();
    }

    @Test
    void of_handlers_with_equally_few_deaths_the_one_without_worse_runs_comes_first() {
        List<Candidate> waiting = List.of(
                new Candidate("a1", "a", 2),
                new Candidate("a2", "a", 4),
                new Candidate("b1", "b", 2),
                new Candidate("b2", "b", 3));

        for (int seed = 0; seed < 20; seed++)
            assertThat(Suspicion.group(waiting, 50, new Random(seed)))
                    .extracting(Candidate::place)
                    .containsExactly("b1");
    }

    @Test
    void the_more_deaths_a_run_has_shared_the_longer_it_waits_after_the_last() {
        assertThat(IntStream.rangeClosed(0, 5).mapToObj(Suspicion::pause).mapToLong(Duration::toSeconds))
                .containsExactly(0L, 0L, 5L, 15L, 30L, 30L);
    }

    @Test
    void a_trial_waits_at_most_five_minutes_for_a_time_without_deaths() {
        Duration second = Duration.ofSeconds(1);
        assertThat(Suspicion.mayBegin(2, second.multipliedBy(5), Duration.ZERO)).isTrue();
        assertThat(Suspicion.mayBegin(2, second, Duration.ofMinutes(5).minus(second)))
                .isFalse();
        assertThat(Suspicion.mayBegin(2, second, Duration.ofMinutes(5))).isTrue();
    }

    /** A run as the store has it. */
    private static final class Job {
        final String name;
        final String handler;
        final boolean poison;
        int deaths;
        int crashes;
        boolean isolated;

        Job(String name, String handler, boolean poison) {
            this.name = name;
            this.handler = handler;
            this.poison = poison;
        }
    }

    @RepeatedTest(50)
    void every_poison_run_is_quarantined_and_no_other_with_few_deaths() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        new Cluster(new Random(seed)).runToTheEnd();
    }

    /** Nodes that are replaced when they die, and die of each poison run they start; also of nothing at all, now and then. */
    private static final class Cluster {
        final Random random;
        final int nodes;
        final int slots;
        final Map<String, Job> open = new HashMap<>();
        int deaths;
        int poison;
        int accidents;

        Cluster(Random random) {
            this.random = random;
            this.nodes = 1 + random.nextInt(4);
            this.slots = 1 + random.nextInt(60);
            poison = random.nextInt(6);
            accidents = random.nextInt(4);
            int handlers = 1 + random.nextInt(3);
            int good = random.nextInt(400);
            for (int i = 0; i < good + poison; i++) {
                Job job = new Job("r" + i, "h" + random.nextInt(handlers), i < poison);
                open.put(job.name, job);
            }
        }

        void runToTheEnd() {
            int quarantined = 0;
            for (int round = 0; !open.isEmpty(); round++) {
                assertThat(round).isLessThan(10_000);
                int isolating = random.nextInt(nodes);
                for (int node = 0; node < nodes; node++) {
                    boolean isolates = node == isolating && random.nextBoolean();
                    quarantined += tried(isolates ? group() : ordinary());
                }
            }
            assertThat(quarantined).isEqualTo(poison);
            assertThat(deaths).isLessThanOrEqualTo(7 * poison);
        }

        private List<Job> ordinary() {
            List<Job> plain = new ArrayList<>(
                    open.values().stream().filter(job -> !job.isolated).toList());
            Collections.shuffle(plain, random);
            return plain.subList(0, Math.min(slots, plain.size()));
        }

        private List<Job> group() {
            List<Candidate> waiting = open.values().stream()
                    .filter(job -> job.isolated)
                    .map(job -> new Candidate(job.name, job.handler, job.deaths))
                    .toList();
            return Suspicion.group(waiting, slots, random).stream()
                    .map(one -> open.get(one.place()))
                    .toList();
        }

        /** A node runs these together; all end, unless one of them kills it. Returns how many were quarantined. */
        private int tried(List<Job> held) {
            boolean accident = held.size() > 1 && accidents > 0 && random.nextInt(10) == 0;
            boolean killed = held.stream().anyMatch(job -> job.poison);
            if (!killed && !accident) {
                held.forEach(job -> open.remove(job.name));
                return 0;
            }
            if (killed) deaths++;
            else accidents--;
            int quarantined = 0;
            for (Job job : held) {
                // Some of the others had ended, or had run for long.
                if (!job.poison && random.nextInt(4) == 0) {
                    open.remove(job.name);
                    continue;
                }
                job.deaths++;
                boolean crashed = job.isolated && held.size() == 1;
                if (crashed && ++job.crashes == 3) {
                    assertThat(job.poison).as(job.name).isTrue();
                    open.remove(job.name);
                    quarantined++;
                }
                job.isolated = Suspicion.isolated(job.deaths, false, random.nextBoolean());
            }
            return quarantined;
        }
    }
}
