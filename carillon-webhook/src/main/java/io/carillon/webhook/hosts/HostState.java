package io.carillon.webhook.hosts;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The state of one host on this node. Not thread-safe: {@link HostLimiter} holds the lock of the map entry. */
final class HostState {
    private static final Duration BUSY_PAUSE = Duration.ofSeconds(1);
    /** The time that the probe has before the first of the other parked requests returns. */
    private static final long PROBE_LEAD = Duration.ofSeconds(1).toNanos();
    /** Parked requests return one by one, 100 per second: however many they are, they must not delay other hosts. */
    private static final long RETURN_INTERVAL = Duration.ofMillis(10).toNanos();

    private static final long LONGEST_PARK = Duration.ofHours(1).toNanos();

    /**
     * Why a request must not start, and when to try again.
     *
     * @param many whether many requests get the same pause; a random part then prevents that they return together
     */
    record Wait(String reason, Duration pause, boolean many) {}

    private final HostLimits limits;
    private int inFlight;
    private long windowStart;
    private int attempts;
    private int failures;
    /** The number of consecutive openings of the breaker; 0 if it is closed. */
    private int openCount;

    /** How long the breaker stays open each time; doubled by each failed probe. */
    private long openFor;

    private long openUntil;
    private boolean probing;
    /** Whether a request was parked until exactly the end of the pause. It becomes the probe. */
    private boolean probeParked;
    /** When the last of the other parked requests returns. */
    private long lastReturn;
    /** The end of the pause that the host asked for. */
    private long slowDownUntil;

    HostState(HostLimits limits, long now) {
        this.limits = limits;
        this.windowStart = now;
        this.openUntil = now;
        this.lastReturn = now;
        this.slowDownUntil = now;
    }

    /** Starts a request. Returns null if it may start. */
    @Nullable
    Wait tryAcquire(long now, boolean withBreaker) {
        if (withBreaker && isParking(now)) return park(now);
        if (slowDownUntil - now > 0)
            return new Wait("the host asked for a pause", Duration.ofNanos(slowDownUntil - now), true);
        if (inFlight >= limits.concurrency())
            return new Wait("the host has reached its limit of requests at a time", BUSY_PAUSE, true);
        if (withBreaker && openCount > 0) probing = true;
        inFlight++;
        return null;
    }

    /** Returns whether the breaker is open and no probe is due. */
    boolean isParking(long now) {
        return openCount > 0 && (probing || openUntil - now > 0);
    }

    /**
     * Parks a request: the first one until the breaker allows a probe, the others until after it. A request that comes
     * while the probe is not answered waits as long as the breaker was open.
     */
    Wait park(long now) {
        long until = openUntil;
        if (probing || probeParked) {
            long earliest = (probing ? now + openFor : openUntil) + PROBE_LEAD;
            lastReturn = earlierOf(laterOf(lastReturn + RETURN_INTERVAL, earliest), now + LONGEST_PARK);
            until = lastReturn;
        }
        probeParked = true;
        return new Wait("the breaker of the host is open on this node", Duration.ofNanos(until - now), false);
    }

    /** Returns whether a probe was sent and is not answered. */
    boolean isProbing() {
        return probing;
    }

    /**
     * Returns the time until the breaker allows a probe; zero if one is due or was sent, null if the breaker is closed.
     */
    @Nullable
    Duration untilProbe(long now) {
        return openCount == 0 ? null : Duration.ofNanos(Math.max(0, openUntil - now));
    }

    /** Ends a request that does not count for the breaker. */
    void release(long now, Duration slowDown) {
        inFlight--;
        if (!slowDown.isZero()) slowDownUntil = laterOf(slowDownUntil, now + slowDown.toNanos());
    }

    /** Counts an ended request for the breaker. */
    void count(long now, boolean probe, boolean failed) {
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
        openFor = pause <= 0 || pause > longest ? longest : pause;
        openUntil = now + openFor;
        probeParked = false;
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
        return inFlight == 0 && healthy && slowDownUntil - now <= 0;
    }

    /** Returns whether the host has no unanswered request and its pauses ended longer than the maximum pause ago. */
    boolean isStale(long now) {
        long ended = laterOf(slowDownUntil, openUntil);
        return inFlight == 0 && now - ended > limits.maxPause().toNanos();
    }

    private static long laterOf(long one, long other) {
        return other - one > 0 ? other : one;
    }

    private static long earlierOf(long one, long other) {
        return other - one > 0 ? one : other;
    }
}
