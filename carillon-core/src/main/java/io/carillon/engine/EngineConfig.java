package io.carillon.engine;

import io.carillon.store.Wakeup;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.time.Duration;

/** How an engine behaves. The defaults are the shipped ones; each group checks itself. */
public record EngineConfig(
        Slots slots, Heartbeat heartbeat, Pace pace, Retention retention, Planning planning, Wakeup wakeup) {
    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration CENTURY = Duration.ofDays(36_500);

    public static EngineConfig defaults() {
        return new EngineConfig(
                Slots.defaults(),
                Heartbeat.defaults(),
                Pace.defaults(),
                Retention.defaults(),
                Planning.EVERY_NODE,
                Wakeup.notifying());
    }

    public EngineConfig with(Slots slots) {
        return new EngineConfig(slots, heartbeat, pace, retention, planning, wakeup);
    }

    public EngineConfig with(Heartbeat heartbeat) {
        return new EngineConfig(slots, heartbeat, pace, retention, planning, wakeup);
    }

    public EngineConfig with(Pace pace) {
        return new EngineConfig(slots, heartbeat, pace, retention, planning, wakeup);
    }

    public EngineConfig with(Retention retention) {
        return new EngineConfig(slots, heartbeat, pace, retention, planning, wakeup);
    }

    public EngineConfig with(Planning planning) {
        return new EngineConfig(slots, heartbeat, pace, retention, planning, wakeup);
    }

    public EngineConfig with(Wakeup wakeup) {
        return new EngineConfig(slots, heartbeat, pace, retention, planning, wakeup);
    }

    /** Who plans: all nodes, or the one that holds the token. Either way the schedule's cursor decides who wrote. */
    public enum Planning {
        /** Each of them, every ten seconds. */
        EVERY_NODE,
        /** One of them, every second; when it dies another takes over within five seconds. */
        LEADER
    }

    /** How many runs execute at a time, how many of them may join a transaction, and how many a claim may take. */
    public record Slots(int concurrency, int transactional, int claim) {
        public Slots {
            check(concurrency >= 1 && concurrency <= 100_000, "concurrency %d is outside 1..100000", concurrency);
            check(transactional >= 0, "transactional slots %d are negative", transactional);
            check(claim >= 1 && claim <= 10_000, "claim size %d is outside 1..10000", claim);
        }

        /** 50 at a time, 256 where the JDK has virtual threads. */
        public static Slots defaults() {
            return new Slots(Workers.virtualThreads() ? 256 : 50, 16, 2_000);
        }
    }

    /** How often a node beats, and after how long without a beat it is declared dead. */
    public record Heartbeat(Duration every, Duration deadAfter) {
        public Heartbeat {
            check(deadAfter.compareTo(DAY) <= 0, "heartbeat.deadAfter %s is above one day", deadAfter);
            if (every.isNegative() || every.isZero() || every.compareTo(deadAfter.dividedBy(3)) > 0)
                throw new CarillonException(
                        ErrorCode.INVALID_OPTION,
                        "heartbeat.every=%s is too slow for heartbeat.deadAfter=%s: allow at least three beats before death"
                                .formatted(every, deadAfter));
        }

        public static Heartbeat defaults() {
            return new Heartbeat(Duration.ofSeconds(2), Duration.ofSeconds(10));
        }
    }

    /** How long a lost hint may cost, how often planning looks, and how long a stop waits for running work. */
    public record Pace(Duration poll, Duration plan, Duration drain) {
        public Pace {
            check(between(poll, SHORTEST, DAY), "poll %s is outside 1 ms..1 day", poll);
            check(between(plan, SHORTEST, DAY), "plan %s is outside 1 ms..1 day", plan);
            check(between(drain, Duration.ZERO, DAY), "drain %s is outside 0..1 day", drain);
        }

        public static Pace defaults() {
            return new Pace(Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ofSeconds(30));
        }
    }

    /** How long ended runs and dead letters are kept. */
    public record Retention(Duration history, Duration deadRuns) {
        public Retention {
            check(between(history, DAY, CENTURY), "history %s is outside 1 day..100 years", history);
            check(between(deadRuns, DAY, CENTURY), "dead runs %s is outside 1 day..100 years", deadRuns);
        }

        public static Retention defaults() {
            return new Retention(Duration.ofDays(14), Duration.ofDays(30));
        }
    }

    private static boolean between(Duration value, Duration least, Duration most) {
        return value.compareTo(least) >= 0 && value.compareTo(most) <= 0;
    }

    private static void check(boolean fine, String message, Object value) {
        if (!fine)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, message.formatted(value) + ". Choose a value inside.");
    }
}
