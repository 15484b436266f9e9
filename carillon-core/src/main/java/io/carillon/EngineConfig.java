package io.carillon;

import io.carillon.internal.value.VirtualThreads;
import java.time.Duration;

/** The settings of an engine. Each group of settings checks its own values. */
public record EngineConfig(
        Slots slots,
        HeartbeatSettings heartbeat,
        TimingSettings timing,
        Retention retention,
        Planning planning,
        Wakeup wakeup) {
    private static final Duration MIN_INTERVAL = Duration.ofMillis(1);
    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration CENTURY = Duration.ofDays(36_500);

    public static EngineConfig defaults() {
        return new EngineConfig(
                Slots.defaults(),
                HeartbeatSettings.defaults(),
                TimingSettings.defaults(),
                Retention.defaults(),
                Planning.EVERY_NODE,
                Wakeup.notifying());
    }

    public EngineConfig with(Slots slots) {
        return new EngineConfig(slots, heartbeat, timing, retention, planning, wakeup);
    }

    public EngineConfig with(HeartbeatSettings heartbeatSettings) {
        return new EngineConfig(slots, heartbeatSettings, timing, retention, planning, wakeup);
    }

    public EngineConfig with(TimingSettings timing) {
        return new EngineConfig(slots, heartbeat, timing, retention, planning, wakeup);
    }

    public EngineConfig with(Retention retention) {
        return new EngineConfig(slots, heartbeat, timing, retention, planning, wakeup);
    }

    public EngineConfig with(Planning planning) {
        return new EngineConfig(slots, heartbeat, timing, retention, planning, wakeup);
    }

    public EngineConfig with(Wakeup wakeup) {
        return new EngineConfig(slots, heartbeat, timing, retention, planning, wakeup);
    }

    /**
     * The nodes that plan. In both modes, the compare-and-set on the schedule's cursor decides which write succeeds.
     */
    public enum Planning {
        /** Every node plans, every 10 s. */
        EVERY_NODE,
        /**
         * Only the holder of the planning token plans, every second. If it dies, another node takes over within 5 s.
         */
        LEADER
    }

    /**
     * The number of attempts that execute at a time, the number of them that may have a transaction, and the largest
     * size of a claim.
     */
    public record Slots(int concurrency, int transactional, int maxClaimSize) {
        public Slots {
            check(
                    concurrency >= 1 && concurrency <= 100_000,
                    "concurrency must be between 1 and 100000 (was %d).",
                    concurrency);
            check(transactional >= 0, "transactional must not be negative (was %d).", transactional);
            check(
                    maxClaimSize >= 1 && maxClaimSize <= 10_000,
                    "maxClaimSize must be between 1 and 10000 (was %d).",
                    maxClaimSize);
        }

        /** Returns a concurrency of 50, or 256 where the JDK has virtual threads. */
        public static Slots defaults() {
            return new Slots(VirtualThreads.exist() ? 256 : 50, 16, 2_000);
        }
    }

    /** The interval of heartbeats, and the time without a heartbeat after which a node is declared dead. */
    public record HeartbeatSettings(Duration every, Duration deadAfter) {
        public HeartbeatSettings {
            check(deadAfter.compareTo(DAY) <= 0, "heartbeat.deadAfter must be at most 1 day (was %s).", deadAfter);
            if (every.isNegative() || every.isZero() || every.compareTo(deadAfter.dividedBy(3)) > 0)
                throw new CarillonException(
                        ErrorCode.INVALID_OPTION,
                        "heartbeat.every must be positive and fit three times into deadAfter (was %s, deadAfter %s)."
                                .formatted(every, deadAfter));
        }

        public static HeartbeatSettings defaults() {
            return new HeartbeatSettings(Duration.ofSeconds(2), Duration.ofSeconds(10));
        }
    }

    /**
     * The poll interval, which is also the longest delay after a lost hint; the planning interval; and the time for
     * which a stop waits for running attempts.
     */
    public record TimingSettings(Duration poll, Duration plan, Duration shutdownTimeout) {
        public TimingSettings {
            check(between(poll, MIN_INTERVAL, DAY), "poll must be between 1 ms and 1 day (was %s).", poll);
            check(between(plan, MIN_INTERVAL, DAY), "plan must be between 1 ms and 1 day (was %s).", plan);
            check(
                    between(shutdownTimeout, Duration.ZERO, DAY),
                    "shutdownTimeout must be between 0 and 1 day (was %s).",
                    shutdownTimeout);
        }

        public static TimingSettings defaults() {
            return new TimingSettings(Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ofSeconds(30));
        }
    }

    /** The time for which the history and dead runs are kept. */
    public record Retention(Duration history, Duration deadRuns) {
        public Retention {
            check(between(history, DAY, CENTURY), "history must be between 1 day and 100 years (was %s).", history);
            check(between(deadRuns, DAY, CENTURY), "deadRuns must be between 1 day and 100 years (was %s).", deadRuns);
        }

        public static Retention defaults() {
            return new Retention(Duration.ofDays(14), Duration.ofDays(30));
        }
    }

    private static boolean between(Duration value, Duration min, Duration max) {
        return value.compareTo(min) >= 0 && value.compareTo(max) <= 0;
    }

    private static void check(boolean valid, String message, Object value) {
        if (!valid) throw new CarillonException(ErrorCode.INVALID_OPTION, message.formatted(value));
    }
}
