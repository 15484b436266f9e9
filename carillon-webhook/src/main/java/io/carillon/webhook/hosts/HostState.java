package io.carillon.webhook.hosts;

import java.time.Duration;

/** The state of one host on this node. Not thread-safe: {@link HostLimiter} holds the lock of the map entry. */
final class HostState {
    private static final Duration BUSY_PAUSE = Duration.ofSeconds(1);

    private final HostLimits limits;
    private int inFlight;
    private long windowStart;
    private int attempts;
    private int failures;
    /** The number of consecutive openings of the breaker; 0 if it is closed. */
    private int openCount;

    private boolean probing;
    private long pausedUntil;

    HostState(HostLimits limits, long now) {
        this.limits = limits;
        this.windowStart = now;
        this.pausedUntil = now;
    }

    /** Starts a request. Returns zero if it may start, otherwise the time to wait. */
    Duration tryAcquire(long now) {
        if (pausedUntil - now > 0) return Duration.ofNanos(pausedUntil - now);
        if (inFlight >= limits.concurrency()) return BUSY_PAUSE;
        if (openCount > 0) {
            if (probing) return BUSY_PAUSE;
            probing = true;
        }
        inFlight++;
        return Duration.ZERO;
    }

    /** Returns whether a probe was sent and is not answered. */
    boolean isProbing() {
        return probing;
    }

    void release(long now, boolean probe, boolean failed, Duration slowDown) {
        inFlight--;
        if (!slowDown.isZero()) pausedUntil = laterOf(pausedUntil, now + slowDown.toNanos());
        if (now - windowStart > limits.window().toNanos()) startWindow(now);
        attempts++;
        if (failed) failures++;
        if (probe) onProbeEnded(now, failed);
        else if (openCount == 0 && attempts >= limits.minRequests() && failures * 2 >= attempts) open(now);
    }

    void cancel(boolean probe) {
        inFlight--;
        if (probe) probing = false;
    }

    private void onProbeEnded(long now, boolean failed) {
        probing = false;
        if (failed) open(now);
        else {
            openCount = 0;
            startWindow(now);
        }
    }

    private void open(long now) {
        long pause = limits.pause().toNanos() << Math.min(openCount, 20);
        long longest = limits.maxPause().toNanos();
        openCount++;
        pausedUntil = laterOf(pausedUntil, now + (pause <= 0 || pause > longest ? longest : pause));
        startWindow(now);
    }

    private void startWindow(long now) {
        windowStart = now;
        attempts = 0;
        failures = 0;
    }

    /** Returns whether the host is idle and healthy. */
    boolean isRemovable(long now) {
        boolean healthy = openCount == 0
                && (failures == 0 || now - windowStart > limits.window().toNanos());
        return inFlight == 0 && healthy && pausedUntil - now <= 0;
    }

    /** Returns whether the host has no unanswered request and its pause ended longer than the maximum pause ago. */
    boolean isStale(long now) {
        return inFlight == 0 && now - pausedUntil > limits.maxPause().toNanos();
    }

    private static long laterOf(long one, long other) {
        return other - one > 0 ? other : one;
    }
}
