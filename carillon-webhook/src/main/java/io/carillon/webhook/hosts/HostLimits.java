package io.carillon.webhook.hosts;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.time.Duration;

/**
 * How many requests a node has under way to one host, and when its breaker opens: when half of at least {@code sample} requests within {@code window} failed; it
 * lets one try after {@code pause}, which doubles up to {@code longest}.
 */
public record HostLimits(int concurrency, int sample, Duration window, Duration pause, Duration longest) {
    public HostLimits {
        if (concurrency < 1 || sample < 1 || !positive(window) || !positive(pause) || longest.compareTo(pause) < 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "Limits of hosts are positive, and the longest pause is no shorter than the first. Choose such.");
    }

    /** 10 at a time; half of at least 20 within a minute; half a minute, doubling up to ten. */
    public static HostLimits defaults() {
        return new HostLimits(10, 20, Duration.ofMinutes(1), Duration.ofSeconds(30), Duration.ofMinutes(10));
    }

    /** So many at a time. */
    public HostLimits concurrency(int atMost) {
        return new HostLimits(atMost, sample, window, pause, longest);
    }

    private static boolean positive(Duration duration) {
        return !duration.isNegative() && !duration.isZero();
    }
}
