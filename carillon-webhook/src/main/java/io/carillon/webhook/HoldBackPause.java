package io.carillon.webhook;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * How long a delivery waits that this node held back. The pause doubles each time, so that many deliveries that wait
 * for the same resource do not keep the node busy with attempts that send nothing.
 */
final class HoldBackPause {
    private static final Duration FIRST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofMinutes(1);
    private static final int MAX_DOUBLINGS = 6;

    private HoldBackPause() {}

    /**
     * Returns a random pause in the upper half of the range up to its maximum: 1 second, doubled for each earlier time,
     * at most 1 minute. A longer pause that was asked for is kept.
     *
     * @param earlier how many attempts of the run ended without a failure, because they were held back
     */
    static Duration of(@Nullable Duration asked, int earlier) {
        Duration doubled = FIRST.multipliedBy(1L << Math.max(0, Math.min(earlier, MAX_DOUBLINGS)));
        long most = Math.min(doubled.toMillis(), LONGEST.toMillis());
        Duration pause = Duration.ofMillis(ThreadLocalRandom.current().nextLong(most / 2, most + 1));
        return asked != null && asked.compareTo(pause) > 0 ? asked : pause;
    }
}
