package io.carillon.webhook.hosts;

import java.time.Duration;

/** One host as this node sees it. Not thread-safe: the book holds its entry while it asks. */
final class HostState {
    private static final Duration CROWDED = Duration.ofSeconds(1);

    private final HostLimits limits;
    private int underWay;
    private long windowStart;
    private int attempts;
    private int failures;
    /** How often in a row the breaker opened; 0: it is closed. */
    private int opened;

    private boolean probing;
    private long quietUntil;

    HostState(HostLimits limits, long now) {
        this.limits = limits;
        this.windowStart = now;
        this.quietUntil = now;
    }

    /** Zero: go on. Otherwise how long to wait. */
    Duration enter(long now) {
        if (quietUntil - now > 0) return Duration.ofNanos(quietUntil - now);
        if (underWay >= limits.concurrency()) return CROWDED;
        if (opened > 0) {
            if (probing) return CROWDED;
            probing = true;
        }
        underWay++;
        return Duration.ZERO;
    }

    /** Whether the one who entered last tries for all. */
    boolean probing() {
        return probing;
    }

    void leave(long now, boolean probe, boolean failed, Duration slowDown) {
        underWay--;
        if (!slowDown.isZero()) quietUntil = later(quietUntil, now + slowDown.toNanos());
        if (now - windowStart > limits.window().toNanos()) startWindow(now);
        attempts++;
        if (failed) failures++;
        if (probe) probed(now, failed);
        else if (opened == 0 && attempts >= limits.sample() && failures * 2 >= attempts) open(now);
    }

    private void probed(long now, boolean failed) {
        probing = false;
        if (failed) open(now);
        else {
            opened = 0;
            startWindow(now);
        }
    }

    private void open(long now) {
        long pause = limits.pause().toNanos() << Math.min(opened, 20);
        long longest = limits.longest().toNanos();
        opened++;
        quietUntil = later(quietUntil, now + (pause <= 0 || pause > longest ? longest : pause));
        startWindow(now);
    }

    private void startWindow(long now) {
        windowStart = now;
        attempts = 0;
        failures = 0;
    }

    /** Idle and well. */
    boolean forgettable(long now) {
        boolean well = opened == 0
                && (failures == 0 || now - windowStart > limits.window().toNanos());
        return underWay == 0 && well && quietUntil - now <= 0;
    }

    /** Nobody has asked for it since long after its pause was over. */
    boolean stale(long now) {
        return underWay == 0 && now - quietUntil > limits.longest().toNanos();
    }

    private static long later(long one, long other) {
        return other - one > 0 ? other : one;
    }
}
