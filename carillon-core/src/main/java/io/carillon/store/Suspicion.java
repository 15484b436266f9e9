package io.carillon.store;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;

/**
 * The rule by which runs of dead nodes are tried again. A run that shared a death for the first time goes back to the ordinary runs: most deaths are caused by
 * something else. After that it is tried in isolation, on a node that runs nothing else, in groups that shrink with each further death until it is alone.
 * Only a death in isolation and without company counts as a crash. No clock, no database.
 */
public final class Suspicion {
    /** How many runs of one handler are tried together by the deaths they shared; with more deaths each is tried alone. */
    private static final List<Integer> GROUPS = List.of(Integer.MAX_VALUE, Integer.MAX_VALUE, 100, 10);

    /** So many deaths of its node a run may share after it has run for long, until it is isolated all the same. */
    private static final int PROVEN_DEATHS = 4;

    private static final Duration PROBATION = Duration.ofSeconds(10);
    private static final int LONGEST = 3;

    /** By the deaths that a run shared: how long after a death of any node it waits where nodes have ordinary runs; the last one counts for more. */
    private static final List<Duration> PAUSES = List.of(
            Duration.ZERO, Duration.ZERO, Duration.ofSeconds(5), Duration.ofSeconds(15), Duration.ofSeconds(30));

    /** Where nodes die again and again of something else, a trial is made all the same after so long without one. */
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(5);

    private Suspicion() {}

    /**
     * Whether a run waits for isolation after its node died; {@code deaths}: this one included; {@code proven}: it had run for its probation; {@code young}: the
     * node died soon after its start, and it was not the first of late to do so: then one of its runs is the likely cause.
     */
    public static boolean isolated(int deaths, boolean proven, boolean young) {
        return deaths > (proven ? PROVEN_DEATHS : young ? 0 : 1);
    }

    /** How many runs that shared so many deaths may be tried together. */
    public static int groupSize(int deaths) {
        return deaths < GROUPS.size() ? GROUPS.get(deaths) : 1;
    }

    /** How long a run must have run to be taken for harmless: ten seconds, and longer where it shared deaths in spite of that. */
    public static Duration probation(int deaths) {
        int steps = Math.min(LONGEST, Math.max(0, deaths - PROVEN_DEATHS));
        return PROBATION.multipliedBy(1L << (2 * steps));
    }

    /**
     * How long after the last death of a node the next trial of runs that shared so many deaths may begin on a node that has ordinary runs. A trial may cost
     * that node, and the time in which it is replaced: without a pause one node after the other is lost. A node without ordinary runs need not wait.
     */
    public static Duration pause(int deaths) {
        return PAUSES.get(Math.min(deaths, PAUSES.size() - 1));
    }

    /**
     * Whether a trial of runs that shared so many deaths may begin on a node that has ordinary runs; {@code sinceDeath}: since the last death of a node;
     * {@code waited}: for how long nodes have been dying and no trial was made.
     */
    public static boolean mayBegin(int deaths, Duration sinceDeath, Duration waited) {
        return sinceDeath.compareTo(pause(deaths)) >= 0 || waited.compareTo(LONGEST_WAIT) >= 0;
    }

    /** A run that waits for isolation. */
    public record Candidate(String place, String handler, int deaths) {}

    /**
     * The next group to try: runs of one handler that shared equally many deaths. The fewest deaths come first, so that harmless runs do not wait for those
     * that kill their nodes.
     */
    public static List<Candidate> group(List<Candidate> waiting, int most, Random random) {
        int fewest = waiting.stream().mapToInt(Candidate::deaths).min().orElse(0);
        List<Candidate> first =
                waiting.stream().filter(one -> one.deaths() == fewest).toList();
        List<String> handlers = first.stream()
                .map(Candidate::handler)
                .distinct()
                .sorted(Comparator.naturalOrder())
                .toList();
        if (handlers.isEmpty()) return List.of();
        // Of equals, a handler none of whose runs has shared more deaths: it is the less likely cause.
        Map<String, Integer> worst =
                waiting.stream().collect(Collectors.toMap(Candidate::handler, Candidate::deaths, Math::max));
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
                .limit(Math.min(most, groupSize(fewest)))
                .toList();
    }
}
