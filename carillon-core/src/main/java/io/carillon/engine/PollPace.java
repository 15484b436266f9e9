package io.carillon.engine;

import java.time.Duration;

/** How long the claimer may go without a look of its own: shorter with each look that finds work, longer with each that finds none. */
final class PollPace {
    private static final double BUSY = 0.8;
    private static final double IDLE = 1.2;
    private static final Duration RAREST = Duration.ofSeconds(30);

    private record Pace(long least, long most, double current) {}

    private volatile Pace pace;

    PollPace(Duration least, Duration most) {
        pace = new Pace(least.toNanos(), most.toNanos(), least.toNanos());
    }

    /** From now on between these; the pace so far is kept as far as they allow. */
    synchronized void between(Duration least, Duration most) {
        pace = held(least.toNanos(), most.toNanos(), pace.current);
    }

    synchronized void looked(boolean found) {
        pace = held(pace.least, pace.most, pace.current * (found ? BUSY : IDLE));
    }

    Duration now() {
        return Duration.ofNanos((long) pace.current);
    }

    /** As rarely as one of a crowd may look, where others look meanwhile. */
    Duration rarest() {
        Duration most = Duration.ofNanos(pace.most);
        Duration shared = most.multipliedBy(10);
        if (shared.compareTo(RAREST) > 0) shared = RAREST;
        return shared.compareTo(most) > 0 ? shared : most;
    }

    private static Pace held(long least, long most, double current) {
        return new Pace(least, most, Math.min((double) most, Math.max((double) least, current)));
    }
}
