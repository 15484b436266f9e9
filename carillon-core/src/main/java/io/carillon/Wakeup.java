package io.carillon;

import io.carillon.internal.value.WallClock;
import io.carillon.run.Enqueue;
import io.carillon.spi.Keyring;
import io.carillon.spi.WakeTransport;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The way a process is woken when there is work. All modes use the same tables and can be mixed: a hint only makes a
 * node find work earlier than its next poll.
 *
 * @param runMessages if the messages of the transport name runs, what they need; otherwise null
 */
public record Wakeup(
        Mode mode,
        Duration pollMin,
        Duration pollMax,
        @Nullable WakeTransport transport,
        @Nullable RunMessages runMessages) {
    private static final Duration DEFAULT_POLL_MIN = Duration.ofMillis(500);
    private static final Duration DEFAULT_POLL_MAX = Duration.ofSeconds(30);

    /**
     * The keys that seal the authorization of messages that name runs.
     *
     * @param valid how long a message is valid after the time at which it is due, from 1 s to 30 days
     */
    public record RunMessages(Keyring keys, Duration valid) {
        public RunMessages {
            if (valid.compareTo(Duration.ofSeconds(1)) < 0 || valid.compareTo(Duration.ofDays(30)) > 0)
                throw invalid("valid must be between 1 s and 30 days (was %s).".formatted(valid));
        }
    }

    /** The wake-up modes. */
    public enum Mode {
        /** The process polls, more often while it finds work. Needs only a connection for each poll. */
        POLLING,
        /**
         * LISTEN and NOTIFY, and a poll every second. Needs a permanent connection, so it cannot use
         * a transaction pooler.
         */
        NOTIFY,
        /**
         * Messages of a transport, and rare polls. A run that is due later than a message can be delayed is rejected.
         */
        QUEUE,
        /** An external caller starts each execution. Needs no thread and no permanent connection. */
        HTTP,
        /** Messages of a transport for runs that are due soon, polls for runs that are due later. */
        HYBRID;

        /** Returns the mode as it is written in settings. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public Wakeup {
        if (pollMin.compareTo(Duration.ofMillis(1)) < 0
                || pollMax.compareTo(pollMin) < 0
                || pollMax.compareTo(Duration.ofDays(1)) > 0)
            throw invalid("pollMin and pollMax must be between 1 ms and 1 day, with pollMin <= pollMax (was %s and %s)."
                    .formatted(pollMin, pollMax));
        boolean usesTransport = mode == Mode.QUEUE || mode == Mode.HYBRID;
        if (usesTransport && transport == null)
            throw invalid("Wake-up mode '%s' needs a transport. Pass a WakeTransport, or use polling, notify or http."
                    .formatted(mode.text()));
        if (!usesTransport && transport != null)
            throw invalid("Wake-up mode '%s' does not use a transport. Omit it, or use queue or hybrid."
                    .formatted(mode.text()));
        if (!usesTransport && runMessages != null)
            throw invalid("Wake-up mode '%s' sends no messages. Omit the keys, or use queue or hybrid."
                    .formatted(mode.text()));
    }

    /**
     * Returns a wake-up that sends one message for each run, if the process has no node, for a consumer that executes
     * it with {@link Carillon#consume(java.util.List)}. Consumers need the same keys.
     *
     * @param valid how long a message is valid after the time at which it is due, from 1 s to 30 days
     */
    public Wakeup messagePerRun(Keyring keys, Duration valid) {
        return new Wakeup(mode, pollMin, pollMax, transport, new RunMessages(keys, valid));
    }

    /**
     * Returns a wake-up by polling, every 0.5 s while there is work, and less often, down to every 30 s, while
     * there is none.
     */
    public static Wakeup polling() {
        return polling(DEFAULT_POLL_MIN, DEFAULT_POLL_MAX);
    }

    /** Returns a wake-up by polling with other bounds. */
    public static Wakeup polling(Duration pollMin, Duration pollMax) {
        return new Wakeup(Mode.POLLING, pollMin, pollMax, null, null);
    }

    /** Returns a wake-up by LISTEN and NOTIFY. */
    public static Wakeup notifying() {
        return new Wakeup(Mode.NOTIFY, DEFAULT_POLL_MIN, DEFAULT_POLL_MAX, null, null);
    }

    /** Returns a wake-up by external calls: only {@code runDue(budget)} executes runs. */
    public static Wakeup http() {
        return new Wakeup(Mode.HTTP, DEFAULT_POLL_MIN, DEFAULT_POLL_MAX, null, null);
    }

    /** Returns a wake-up by messages of this transport only. */
    public static Wakeup queue(WakeTransport transport) {
        return new Wakeup(Mode.QUEUE, DEFAULT_POLL_MIN, DEFAULT_POLL_MAX, transport, null);
    }

    /** Returns a wake-up by messages of this transport for runs that are due soon, and polls for the others. */
    public static Wakeup hybrid(WakeTransport transport) {
        return new Wakeup(Mode.HYBRID, DEFAULT_POLL_MIN, DEFAULT_POLL_MAX, transport, null);
    }

    /**
     * Returns the wake-up with this name in settings. The transport is required for queue and hybrid,
     * and null otherwise.
     */
    public static Wakeup named(String name, @Nullable WakeTransport transport) {
        Mode mode = Arrays.stream(Mode.values())
                .filter(one -> one.text().equals(name))
                .findFirst()
                .orElseThrow(() -> invalid("Unknown wake-up mode '%s'. Use one of %s."
                        .formatted(
                                name,
                                Arrays.stream(Mode.values()).map(Mode::text).collect(Collectors.joining(", ")))));
        return new Wakeup(mode, DEFAULT_POLL_MIN, DEFAULT_POLL_MAX, transport, null);
    }

    /** Returns whether other processes are notified by NOTIFY. */
    public boolean notifies() {
        return mode == Mode.NOTIFY;
    }

    /** Rejects a run that is due later than a message can be delayed if the mode has no poll that finds it in time. */
    public void rejectTooFarAhead(Enqueue.Due due) {
        if (mode != Mode.QUEUE || transport == null || delay(due).compareTo(transport.longestDelay()) <= 0) return;
        throw invalid(
                "A run due in %s exceeds the longest message delay of this transport (%s). Use wake-up mode hybrid."
                        .formatted(delay(due), transport.longestDelay()));
    }

    /**
     * Returns the approximate time until the run is due. Uses the system clock: a message that arrives too early or too
     * late costs only one poll.
     */
    public static Duration delay(Enqueue.Due due) {
        if (due instanceof Enqueue.Due.After after) return after.delay();
        if (due instanceof Enqueue.Due.AfterRuns) return Duration.ZERO;
        Duration left = Duration.between(Instant.ofEpochMilli(WallClock.millis()), ((Enqueue.Due.At) due).instant());
        return left.isNegative() ? Duration.ZERO : left;
    }

    private static CarillonException invalid(String message) {
        return new CarillonException(ErrorCode.INVALID_OPTION, message);
    }
}
