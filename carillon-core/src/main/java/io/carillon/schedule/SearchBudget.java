package io.carillon.schedule;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.time.Duration;

/**
 * The work that searches for planned instants may do: a number of steps and a time. A server gives one budget to all
 * searches of a request, because callers choose the expressions, the excluded dates and the number of instants. Not
 * safe for use by several threads.
 */
public final class SearchBudget {
    /** The clock is read once in this many steps. */
    private static final int STEPS_PER_CLOCK_READING = 64;

    private final long maxSteps;
    private final long maxNanos;
    private long steps;
    private long nanos;
    private long begunNanos;

    private SearchBudget(long maxSteps, long maxNanos) {
        this.maxSteps = maxSteps;
        this.maxNanos = maxNanos;
    }

    /**
     * Returns a new budget. A step is one planned instant, one skipped run of excluded dates or one daylight saving
     * transition. The time counts only while a search runs.
     */
    public static SearchBudget of(long maxSteps, Duration maxTime) {
        return new SearchBudget(maxSteps, maxTime.toNanos());
    }

    static SearchBudget unlimited() {
        return new SearchBudget(Long.MAX_VALUE, Long.MAX_VALUE);
    }

    void begin() {
        begunNanos = System.nanoTime();
    }

    void end() {
        nanos += System.nanoTime() - begunNanos;
    }

    /**
     * Uses one step.
     *
     * @throws CarillonException with {@link ErrorCode#SEARCH_TOO_LONG} if the budget is used up
     */
    void takeStep() {
        steps++;
        boolean late = steps % STEPS_PER_CLOCK_READING == 0 && nanos + System.nanoTime() - begunNanos > maxNanos;
        if (steps > maxSteps || late)
            throw new CarillonException(
                    ErrorCode.SEARCH_TOO_LONG,
                    ("The search for planned instants was stopped after %d steps, because it exceeds %d steps or %d ms."
                                    + " Request fewer instants, fewer schedules or a shorter range, or exclude fewer"
                                    + " dates.")
                            .formatted(
                                    Math.min(steps, maxSteps),
                                    maxSteps,
                                    Duration.ofNanos(maxNanos).toMillis()));
    }
}
