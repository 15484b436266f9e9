package io.carillon.schedule;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a schedule does about missed instants, overlaps and failures. {@code grace}: how late an instant may start as if on time; {@code pauseAfter}: how
 * many runs in a row may fail before it pauses itself, null for any number.
 */
public record Policies(
        Missed missed,
        Duration grace,
        Duration catchUp,
        RunAll runAll,
        Overlap overlap,
        @Nullable Integer pauseAfter) {
    private static final Duration SHORTEST_GRACE = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofDays(366);

    /** How many late runs {@link Missed#RUN_ALL} makes at most, and how far apart they fall due. */
    public record RunAll(int cap, Duration spread) {
        private static final int HIGHEST_CAP = 1_000;
        private static final Duration WIDEST = Duration.ofHours(1);

        public RunAll {
            if (cap < 1 || cap > HIGHEST_CAP)
                throw invalid("The cap of %d late runs is outside 1..%d.".formatted(cap, HIGHEST_CAP));
            if (spread.isNegative() || spread.compareTo(WIDEST) > 0)
                throw invalid("The spread %s between late runs is outside 0..1 hour.".formatted(spread));
        }

        static RunAll defaults() {
            return new RunAll(100, Duration.ZERO);
        }
    }

    public Policies {
        // Nobody starts a run in no time: without grace every instant would be missed.
        check("grace", grace, SHORTEST_GRACE);
        check("catch-up window", catchUp, Duration.ZERO);
        if (pauseAfter != null && pauseAfter < 1)
            throw invalid("A pause after %d failures in a row would never end.".formatted(pauseAfter));
    }

    /** Run once when missed, 5 min of grace, 24 h of catch-up, overlaps allowed, and no pause that nobody asked for. */
    public static Policies defaults() {
        return new Policies(
                Missed.RUN_ONCE, Duration.ofMinutes(5), Duration.ofHours(24), RunAll.defaults(), Overlap.ALLOW, null);
    }

    public Policies missed(Missed missed) {
        return new Policies(missed, grace, catchUp, runAll, overlap, pauseAfter);
    }

    public Policies grace(Duration grace) {
        return new Policies(missed, grace, catchUp, runAll, overlap, pauseAfter);
    }

    public Policies catchUp(Duration catchUp) {
        return new Policies(missed, grace, catchUp, runAll, overlap, pauseAfter);
    }

    public Policies runAll(RunAll runAll) {
        return new Policies(missed, grace, catchUp, runAll, overlap, pauseAfter);
    }

    public Policies overlap(Overlap overlap) {
        return new Policies(missed, grace, catchUp, runAll, overlap, pauseAfter);
    }

    public Policies pauseAfter(@Nullable Integer failures) {
        return new Policies(missed, grace, catchUp, runAll, overlap, failures);
    }

    /** How many late runs of one schedule may wait at the same time. */
    int lateRuns() {
        return switch (missed) {
            case SKIP -> 0;
            case RUN_ONCE -> 1;
            case RUN_ALL -> runAll.cap;
        };
    }

    private static void check(String what, Duration value, Duration least) {
        if (value.compareTo(least) < 0 || value.compareTo(LONGEST) > 0)
            throw invalid("The %s %s is outside %d s..366 days.".formatted(what, value, least.toSeconds()));
    }

    private static CarillonException invalid(String what) {
        return new CarillonException(ErrorCode.INVALID_OPTION, what + " Choose a value inside.");
    }
}
