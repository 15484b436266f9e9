package io.carillon.internal.engine;

import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.LaneOutcomes;

/** Counts of how the attempts of one lane ended, for each of the last 60 seconds. */
final class OutcomeWindow {
    private static final int SECONDS = 60;
    private static final int MIN_ATTEMPTS = 20;

    private final int[] succeeded = new int[SECONDS];
    private final int[] failed = new int[SECONDS];
    private long last = Long.MIN_VALUE;

    /**
     * Counts one attempt. Returns whether it failed and at least half of at least
     * {@value #MIN_ATTEMPTS} attempts failed.
     */
    synchronized boolean count(boolean hasFailed, long second) {
        advanceTo(second);
        (hasFailed ? failed : succeeded)[Math.floorMod(second, SECONDS)]++;
        if (!hasFailed) return false;
        int bad = sum(failed);
        int all = bad + sum(succeeded);
        return all >= MIN_ATTEMPTS && bad * 2 >= all;
    }

    synchronized LaneOutcomes outcomes(Lane lane, long second, boolean afterOpening) {
        advanceTo(second);
        return new LaneOutcomes(lane, sum(succeeded), sum(failed), afterOpening);
    }

    /** Clears the seconds that have passed since the last count. */
    private void advanceTo(long second) {
        if (second - last >= SECONDS || last == Long.MIN_VALUE) last = second - SECONDS;
        for (; last < second; last++) {
            int next = Math.floorMod(last + 1, SECONDS);
            succeeded[next] = 0;
            failed[next] = 0;
        }
    }

    private static int sum(int[] seconds) {
        int sum = 0;
        for (int one : seconds) sum += one;
        return sum;
    }
}
