package io.carillon.engine;

import io.carillon.run.Lane;
import io.carillon.store.LaneLoad;

/** How the attempts of one lane ended in each of the last sixty seconds. */
final class LoadWindow {
    private static final int SECONDS = 60;
    private static final int ENOUGH = 20;

    private final int[] well = new int[SECONDS];
    private final int[] failed = new int[SECONDS];
    private long last = Long.MIN_VALUE;

    /** Counts one; true: of enough attempts at least half failed. */
    synchronized boolean count(boolean hasFailed, long second) {
        moveTo(second);
        (hasFailed ? failed : well)[Math.floorMod(second, SECONDS)]++;
        if (!hasFailed) return false;
        int bad = sum(failed);
        int all = bad + sum(well);
        return all >= ENOUGH && bad * 2 >= all;
    }

    synchronized LaneLoad load(Lane lane, long second) {
        moveTo(second);
        return new LaneLoad(lane, sum(well), sum(failed));
    }

    /** Empties the seconds that have passed since the last one. */
    private void moveTo(long second) {
        if (second - last >= SECONDS || last == Long.MIN_VALUE) last = second - SECONDS;
        for (; last < second; last++) {
            int next = Math.floorMod(last + 1, SECONDS);
            well[next] = 0;
            failed[next] = 0;
        }
    }

    private static int sum(int[] seconds) {
        int sum = 0;
        for (int one : seconds) sum += one;
        return sum;
    }
}
