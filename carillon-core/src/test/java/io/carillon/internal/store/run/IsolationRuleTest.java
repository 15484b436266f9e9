package io.carillon.internal.store.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.store.run.IsolationRule.IsolationCandidate;
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

class IsolationRuleTest {
    @Test
    void the_first_shared_death_leads_to_no_isolation_and_a_long_run_is_isolated_after_five() {
        assertThat(IsolationRule.needsIsolation(1, false, false)).isFalse();
        assertThat(IsolationRule.needsIsolation(1, false, true)).isTrue();
        assertThat(IsolationRule.needsIsolation(2, false, false)).isTrue();
        assertThat(IsolationRule.needsIsolation(4, true, true)).isFalse();
        assertThat(IsolationRule.needsIsolation(5, true, false)).isTrue();
    }

    @Test
    void a_run_is_harmless_after_ten_seconds_and_later_only_if_it_shares_deaths_in_spite_of_it() {
        assertThat(IntStream.rangeClosed(0, 4).mapToObj(IsolationRule::harmlessAfter))
                .containsOnly(Duration.ofSeconds(10));
        assertThat(IsolationRule.harmlessAfter(5)).isEqualTo(Duration.ofSeconds(40));
        assertThat(IsolationRule.harmlessAfter(100)).isEqualTo(Duration.ofSeconds(640));
    }

    @Test
    void groups_are_of_one_handler_and_those_with_the_fewest_deaths_come_first() {
        List<IsolationCandidate> waiting = new ArrayList<>();
        for (int i = 0; i < 30; i++) waiting.add(new IsolationCandidate("a" + i, "a", 3));
        for (int i = 0; i < 5; i++) waiting.add(new IsolationCandidate("b" + i, "b", 2));

        List<IsolationCandidate> first = IsolationRule.nextGroup(waiting, 50, new Random(1));
        waiting.removeAll(first);

        assertThat(first).hasSize(5).extracting(IsolationCandidate::handler).containsOnly("b");
        assertThat(IsolationRule.nextGroup(waiting, 50, new Random(1))).hasSize(10);
        assertThat(IsolationRule.nextGroup(waiting, 4, new Random(1))).hasSize(4);
        assertThat(IsolationRule.nextGroup(List.of(), 4, new Random(1))).isEmpty();
    }

    @Test
    void of_handlers_with_equally_few_deaths_the_one_without_worse_runs_comes_first() {
        List<IsolationCandidate> waiting = List.of(
                new IsolationCandidate("a1", "a", 2),
                new IsolationCandidate("a2", "a", 4),
                new IsolationCandidate("b1", "b", 2),
                new IsolationCandidate("b2", "b", 3));

        for (int seed = 0; seed < 20; seed++)
            assertThat(IsolationRule.nextGroup(waiting, 50, new Random(seed)))
                    .extracting(IsolationCandidate::rowLocation)
                    .containsExactly("b1");
    }

    @Test
    void the_more_deaths_a_run_has_shared_the_longer_it_waits_after_the_last() {
        assertThat(IntStream.rangeClosed(0, 5)
                        .mapToObj(IsolationRule::pauseAfterDeath)
                        .mapToLong(Duration::toSeconds))
                .containsExactly(0L, 0L, 5L, 15L, 30L, 30L);
    }

    @Test
    void a_trial_waits_at_most_five_minutes_for_a_time_without_deaths() {
        Duration second = Duration.ofSeconds(1);
        assertThat(IsolationRule.mayStartTrial(2, second.multipliedBy(5), Duration.ZERO))
                .isTrue();
        assertThat(IsolationRule.mayStartTrial(2, second, Duration.ofMinutes(5).minus(second)))
                .isFalse();
        assertThat(IsolationRule.mayStartTrial(2, second, Duration.ofMinutes(5)))
                .isTrue();
    }

    /** A run with the state that the store keeps. */
    private static final class SimulatedRun {
        final String name;
        final String handler;
        final boolean poison;
        int deaths;
        int crashes;
        boolean isolated;

        SimulatedRun(String name, String handler, boolean poison) {
            this.name = name;
            this.handler = handler;
            this.poison = poison;
        }
    }

    @RepeatedTest(50)
    void every_poison_run_is_quarantined_and_no_other_with_few_deaths() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        new SimulatedCluster(new Random(seed)).runToTheEnd();
    }

    /** A cluster whose nodes die of each poison run they start, and sometimes by accident. Dead nodes are replaced. */
    private static final class SimulatedCluster {
        final Random random;
        final int nodes;
        final int slots;
        final Map<String, SimulatedRun> unfinished = new HashMap<>();
        int deaths;
        int poison;
        int accidents;

        SimulatedCluster(Random random) {
            this.random = random;
            this.nodes = 1 + random.nextInt(4);
            this.slots = 1 + random.nextInt(60);
            poison = random.nextInt(6);
            accidents = random.nextInt(4);
            int handlers = 1 + random.nextInt(3);
            int good = random.nextInt(400);
            for (int i = 0; i < good + poison; i++) {
                SimulatedRun simulatedRun = new SimulatedRun("r" + i, "h" + random.nextInt(handlers), i < poison);
                unfinished.put(simulatedRun.name, simulatedRun);
            }
        }

        void runToTheEnd() {
            int quarantined = 0;
            for (int round = 0; !unfinished.isEmpty(); round++) {
                assertThat(round).isLessThan(10_000);
                int isolating = random.nextInt(nodes);
                for (int node = 0; node < nodes; node++) {
                    boolean isolates = node == isolating && random.nextBoolean();
                    quarantined += runTogether(isolates ? group() : ordinary());
                }
            }
            assertThat(quarantined).isEqualTo(poison);
            assertThat(deaths).isLessThanOrEqualTo(7 * poison);
        }

        private List<SimulatedRun> ordinary() {
            List<SimulatedRun> plain = new ArrayList<>(unfinished.values().stream()
                    .filter(simulatedRun -> !simulatedRun.isolated)
                    .toList());
            Collections.shuffle(plain, random);
            return plain.subList(0, Math.min(slots, plain.size()));
        }

        private List<SimulatedRun> group() {
            List<IsolationCandidate> waiting = unfinished.values().stream()
                    .filter(simulatedRun -> simulatedRun.isolated)
                    .map(simulatedRun ->
                            new IsolationCandidate(simulatedRun.name, simulatedRun.handler, simulatedRun.deaths))
                    .toList();
            return IsolationRule.nextGroup(waiting, slots, random).stream()
                    .map(one -> unfinished.get(one.rowLocation()))
                    .toList();
        }

        /**
         * Runs the given runs together on one node. All of them end unless the node dies. Returns how
         * many were quarantined.
         */
        private int runTogether(List<SimulatedRun> held) {
            boolean accident = held.size() > 1 && accidents > 0 && random.nextInt(10) == 0;
            boolean killed = held.stream().anyMatch(simulatedRun -> simulatedRun.poison);
            if (!killed && !accident) {
                held.forEach(simulatedRun -> unfinished.remove(simulatedRun.name));
                return 0;
            }
            if (killed) deaths++;
            else accidents--;
            int quarantined = 0;
            for (SimulatedRun simulatedRun : held) {
                // Some of the other runs had ended, or had run for long.
                if (!simulatedRun.poison && random.nextInt(4) == 0) {
                    unfinished.remove(simulatedRun.name);
                    continue;
                }
                simulatedRun.deaths++;
                boolean crashed = simulatedRun.isolated && held.size() == 1;
                if (crashed && ++simulatedRun.crashes == 3) {
                    assertThat(simulatedRun.poison).as(simulatedRun.name).isTrue();
                    unfinished.remove(simulatedRun.name);
                    quarantined++;
                }
                simulatedRun.isolated = IsolationRule.needsIsolation(simulatedRun.deaths, false, random.nextBoolean());
            }
            return quarantined;
        }
    }
}
