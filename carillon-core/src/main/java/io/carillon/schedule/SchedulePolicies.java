package io.carillon.schedule;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The policies of a schedule for missed instants, overlaps and failures. Immutable; each method returns a changed copy.
 *
 * @param grace how late a run may start before its planned instant counts as missed
 * @param catchUp how far back missed instants are caught up
 * @param pauseAfter after how many consecutive failed runs the schedule is paused; null for never
 */
public record SchedulePolicies(
        MissedPolicy missed,
        Duration grace,
        Duration catchUp,
        RunAllLimits runAll,
        OverlapPolicy overlap,
        @Nullable Integer pauseAfter) {
    private static final Duration MIN_GRACE = Duration.ofSeconds(1);
    private static final Duration MAX_WINDOW = Duration.ofDays(366);

    /**
     * The limits of {@link MissedPolicy#RUN_ALL}.
     *
     * @param cap the maximum number of late runs at a time
     * @param spread the time between the due times of the late runs
     */
    public record RunAllLimits(int cap, Duration spread) {
        private static final int MAX_CAP = 1_000;
        private static final Duration MAX_SPREAD = Duration.ofHours(1);

        public RunAllLimits {
            if (cap < 1 || cap > MAX_CAP)
                throw invalid(
                        "The cap of %d late runs is not allowed: it must be between 1 and %d.".formatted(cap, MAX_CAP));
            if (spread.isNegative() || spread.compareTo(MAX_SPREAD) > 0)
                throw invalid("The spread between late runs must be between 0 and 1 hour (was %s).".formatted(spread));
        }

        static RunAllLimits defaults() {
            return new RunAllLimits(100, Duration.ZERO);
        }
    }

    public SchedulePolicies {
        // A run cannot start in zero time: without grace every instant would be missed.
        check("grace", grace, MIN_GRACE);
        check("catch-up window", catchUp, Duration.ZERO);
        if (pauseAfter != null && pauseAfter < 1)
            throw invalid("pauseAfter must be at least 1 (was %d).".formatted(pauseAfter));
    }

    /**
     * Returns the default policies: run once if missed, 5 minutes grace, 24 hours catch-up, overlaps allowed, no
     * automatic pause.
     */
    public static SchedulePolicies defaults() {
        return new SchedulePolicies(
                MissedPolicy.RUN_ONCE,
                Duration.ofMinutes(5),
                Duration.ofHours(24),
                RunAllLimits.defaults(),
                OverlapPolicy.ALLOW,
                null);
    }

    /** Returns a copy with another missed policy. */
    public SchedulePolicies missed(MissedPolicy missedPolicy) {
        return new SchedulePolicies(missedPolicy, grace, catchUp, runAll, overlap, pauseAfter);
    }

    /** Returns a copy with another grace. */
    public SchedulePolicies grace(Duration grace) {
        return new SchedulePolicies(missed, grace, catchUp, runAll, overlap, pauseAfter);
    }

    /** Returns a copy with another catch-up window. */
    public SchedulePolicies catchUp(Duration catchUp) {
        return new SchedulePolicies(missed, grace, catchUp, runAll, overlap, pauseAfter);
    }

    /** Returns a copy with other limits for {@link MissedPolicy#RUN_ALL}. */
    public SchedulePolicies runAll(RunAllLimits runAllLimits) {
        return new SchedulePolicies(missed, grace, catchUp, runAllLimits, overlap, pauseAfter);
    }

    /** Returns a copy with another overlap policy. */
    public SchedulePolicies overlap(OverlapPolicy overlapPolicy) {
        return new SchedulePolicies(missed, grace, catchUp, runAll, overlapPolicy, pauseAfter);
    }

    /** Returns a copy that pauses after this many consecutive failed runs; null for never. */
    public SchedulePolicies pauseAfter(@Nullable Integer failures) {
        return new SchedulePolicies(missed, grace, catchUp, runAll, overlap, failures);
    }

    /** Returns how many late runs of the schedule may wait at the same time. */
    public int maxLateRuns() {
        return switch (missed) {
            case SKIP -> 0;
            case RUN_ONCE -> 1;
            case RUN_ALL -> runAll.cap;
        };
    }

    private static void check(String what, Duration value, Duration least) {
        if (value.compareTo(least) < 0 || value.compareTo(MAX_WINDOW) > 0)
            throw invalid("The %s of %s is not allowed: it must be between %d s and 366 days."
                    .formatted(what, value, least.toSeconds()));
    }

    private static CarillonException invalid(String what) {
        return new CarillonException(ErrorCode.INVALID_OPTION, what);
    }
}
