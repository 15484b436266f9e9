package io.carillon.internal.store.run;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;

/**
 * Decides how runs of dead nodes are tried again. After the first death of its node, a run goes back to the ordinary
 * runs, because most deaths have another cause. After the next death it is tried in isolation, earlier if several nodes
 * died soon after their start, later if it had run for long each time. The node executes nothing else then, and the
 * groups become smaller with each death until the run is alone. Only a death in isolation, with no other run on the
 * node, counts as a crash. Uses no clock and no database.
 */
public final class IsolationRule {
    /**
     * How many runs of one handler are tried together, by the number of node deaths. After more deaths each run is
     * tried alone.
     */
    private static final List<Integer> GROUP_SIZES = List.of(Integer.MAX_VALUE, Integer.MAX_VALUE, 100, 10);

    /** The number of node deaths after which a run is isolated even if it had run for long each time. */
    private static final int MAX_DEATHS_OF_LONG_RUN = 4;

    private static final Duration FIRST_HARMLESS_AFTER = Duration.ofSeconds(10);
    private static final int MAX_STEPS = 3;

    /**
     * How long an isolated run waits after the death of any node if the nodes have ordinary runs, by the number of node
     * deaths of the run. The last value also applies to higher numbers.
     */
    private static final List<Duration> PAUSES = List.of(
            Duration.ZERO, Duration.ZERO, Duration.ofSeconds(5), Duration.ofSeconds(15), Duration.ofSeconds(30));

    /** If nodes keep dying of another cause, a group is tried after this time without a try. */
    private static final Duration MAX_WAIT = Duration.ofMinutes(5);

    private IsolationRule() {}

    /**
     * Returns whether a run is isolated after its node died.
     *
     * @param deaths the number of node deaths of this run, including this one
     * @param ranLong whether the run had run long enough to count as harmless
     * @param diedSoonAfterStart whether the node died soon after its start and other nodes recently did too, so that
     * one of its runs is the likely cause
     */
    public static boolean needsIsolation(int deaths, boolean ranLong, boolean diedSoonAfterStart) {
        return deaths > (ranLong ? MAX_DEATHS_OF_LONG_RUN : diedSoonAfterStart ? 0 : 1);
    }

    /** Returns how many runs with this number of node deaths may be tried together. */
    public static int groupSize(int deaths) {
        return deaths < GROUP_SIZES.size() ? GROUP_SIZES.get(deaths) : 1;
    }

    /** Returns how long a run must have run to count as harmless: 10 s, and longer after many node deaths. */
    public static Duration harmlessAfter(int deaths) {
        int steps = Math.min(MAX_STEPS, Math.max(0, deaths - MAX_DEATHS_OF_LONG_RUN));
        // Asked for every attempt several times a second, and multiplying a duration is slow.
        if (steps == 0) return FIRST_HARMLESS_AFTER;
        return FIRST_HARMLESS_AFTER.multipliedBy(1L << (2 * steps));
    }

    /**
     * Returns how long after the last death of a node the next group may be tried on a node that has ordinary runs. A
     * try may kill that node, and replacing it takes time: without a pause, one node after another would be lost. A
     * node without ordinary runs does not wait.
     */
    public static Duration pauseAfterDeath(int deaths) {
        return PAUSES.get(Math.min(deaths, PAUSES.size() - 1));
    }

    /**
     * Returns whether a group may be tried on a node that has ordinary runs.
     *
     * @param deaths the number of node deaths of the runs
     * @param sinceDeath the time since the last death of a node
     * @param waited for how long nodes have been dying without a try
     */
    public static boolean mayStartTrial(int deaths, Duration sinceDeath, Duration waited) {
        return sinceDeath.compareTo(pauseAfterDeath(deaths)) >= 0 || waited.compareTo(MAX_WAIT) >= 0;
    }

    /** An isolated run that waits to be tried. */
    public record IsolationCandidate(String rowLocation, String handler, int deaths) {}

    /**
     * Returns the next group to try: runs of one handler with the same number of node deaths. Runs with the fewest
     * deaths come first, so that harmless runs do not wait for runs that kill their nodes.
     */
    public static List<IsolationCandidate> nextGroup(List<IsolationCandidate> waiting, int maxRuns, Random random) {
        int fewest = waiting.stream().mapToInt(IsolationCandidate::deaths).min().orElse(0);
        List<IsolationCandidate> first =
                waiting.stream().filter(one -> one.deaths() == fewest).toList();
        List<String> handlers = first.stream()
                .map(IsolationCandidate::handler)
                .distinct()
                .sorted(Comparator.naturalOrder())
                .toList();
        if (handlers.isEmpty()) return List.of();
        // Among these, prefer handlers without any run that has more deaths: they are less likely to be the cause.
        Map<String, Integer> worst = waiting.stream()
                .collect(Collectors.toMap(IsolationCandidate::handler, IsolationCandidate::deaths, Math::max));
        int least = handlers.stream()
                .mapToInt(one -> worst.getOrDefault(one, 0))
                .min()
                .orElseThrow();
        handlers = handlers.stream()
                .filter(one -> worst.getOrDefault(one, 0) == least)
                .toList();
        String handler = handlers.get(random.nextInt(handlers.size()));
        return first.stream()
                .filter(one -> one.handler().equals(handler))
                .limit(Math.min(maxRuns, groupSize(fewest)))
                .toList();
    }
}
