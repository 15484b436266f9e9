package io.carillon.webhook.hosts;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.time.Duration;

/**
 * The limits of requests from one node to one host. The breaker opens when half of at least {@code minRequests}
 * requests within {@code window} failed. It allows one probe after {@code pause}; the pause doubles after each failed
 * probe, up to {@code maxPause}.
 *
 * @param concurrency the maximum number of concurrent requests
 */
public record HostLimits(int concurrency, int minRequests, Duration window, Duration pause, Duration maxPause) {
    public HostLimits {
        if (concurrency < 1
                || minRequests < 1
                || !positive(window)
                || !positive(pause)
                || maxPause.compareTo(pause) < 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "Host limits must be positive, and maxPause must not be shorter than pause.");
    }

    /**
     * Returns the defaults: 10 concurrent requests; the breaker opens when half of at least 20 requests within a minute
     * failed; pauses of 30 seconds, doubling up to 10 minutes.
     */
    public static HostLimits defaults() {
        return new HostLimits(10, 20, Duration.ofMinutes(1), Duration.ofSeconds(30), Duration.ofMinutes(10));
    }

    /** Returns a copy with this maximum number of concurrent requests. */
    public HostLimits concurrency(int limit) {
        return new HostLimits(limit, minRequests, window, pause, maxPause);
    }

    /** Returns a copy whose breaker opens when half of at least {@code minRequests} requests within a window failed. */
    public HostLimits requests(int minRequests, Duration window) {
        return new HostLimits(concurrency, minRequests, window, pause, maxPause);
    }

    /** Returns a copy with these pauses of an open breaker: {@code first}, doubling up to {@code longest}. */
    public HostLimits pause(Duration first, Duration longest) {
        return new HostLimits(concurrency, minRequests, window, first, longest);
    }

    private static boolean positive(Duration duration) {
        return !duration.isNegative() && !duration.isZero();
    }
}
