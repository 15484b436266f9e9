package io.carillon.store;

import io.carillon.run.Enqueue;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.WallClock;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What wakes a process when there is work. All modes share the same tables and may be mixed: a hint is only ever faster than a look. */
public record Wakeup(
        Mode mode, Duration least, Duration most, @Nullable WakeTransport transport) {
    private static final Duration LEAST = Duration.ofMillis(500);
    private static final Duration MOST = Duration.ofSeconds(30);

    /** The ways to be woken. */
    public enum Mode {
        /** The process looks for itself, the more often the more it finds. Needs nothing but a connection now and then. */
        POLLING,
        /** LISTEN and NOTIFY, with a look every second behind. Needs a connection that stays, so no transaction pooler. */
        NOTIFY,
        /** Messages of a transport, with a rare look behind; what is further off than a message can wait is refused. */
        QUEUE,
        /** An external tick calls: no thread, no connection that stays. */
        HTTP,
        /** Messages of a transport for what is near, looks for what is far. */
        HYBRID;

        /** As it stands in settings. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public Wakeup {
        if (least.compareTo(Duration.ofMillis(1)) < 0
                || most.compareTo(least) < 0
                || most.compareTo(Duration.ofDays(1)) > 0)
            throw invalid("Looking every %s to %s is outside 1 ms..1 day, or upside down.".formatted(least, most));
        boolean carried = mode == Mode.QUEUE || mode == Mode.HYBRID;
        if (carried && transport == null)
            throw invalid(
                    "The wake-up mode '%s' needs a transport that carries its messages. Give it a WakeTransport, or choose polling, notify or http."
                            .formatted(mode.text()));
        if (!carried && transport != null)
            throw invalid("The wake-up mode '%s' has no use for a transport. Leave it out, or choose queue or hybrid."
                    .formatted(mode.text()));
    }

    /** Looks every 0.5 s while there is work, and ever more rarely, down to every 30 s, while there is none. */
    public static Wakeup polling() {
        return polling(LEAST, MOST);
    }

    /** The same between other bounds. */
    public static Wakeup polling(Duration least, Duration most) {
        return new Wakeup(Mode.POLLING, least, most, null);
    }

    /** LISTEN and NOTIFY. */
    public static Wakeup notifying() {
        return new Wakeup(Mode.NOTIFY, LEAST, MOST, null);
    }

    /** Only {@code tick(budget)} executes. */
    public static Wakeup http() {
        return new Wakeup(Mode.HTTP, LEAST, MOST, null);
    }

    /** Messages of this transport alone. */
    public static Wakeup queue(WakeTransport transport) {
        return new Wakeup(Mode.QUEUE, LEAST, MOST, transport);
    }

    /** Messages of this transport for what is near, looks for the rest. */
    public static Wakeup hybrid(WakeTransport transport) {
        return new Wakeup(Mode.HYBRID, LEAST, MOST, transport);
    }

    /** By its name in some setting; the transport is for queue and hybrid. A part that is missing is named. */
    public static Wakeup named(String name, @Nullable WakeTransport transport) {
        Mode mode = Arrays.stream(Mode.values())
                .filter(one -> one.text().equals(name))
                .findFirst()
                .orElseThrow(() -> invalid("There is no wake-up mode '%s'. Choose one of %s."
                        .formatted(
                                name,
                                Arrays.stream(Mode.values()).map(Mode::text).collect(Collectors.joining(", ")))));
        return new Wakeup(mode, LEAST, MOST, transport);
    }

    /** Whether other processes are told by NOTIFY. */
    public boolean notifies() {
        return mode == Mode.NOTIFY;
    }

    /** Where nothing looks for what is far, a run that no message can wait for is refused. */
    public void refuseOutOfReach(Enqueue.Due due) {
        if (mode != Mode.QUEUE || transport == null || delay(due).compareTo(transport.longestDelay()) <= 0) return;
        throw invalid(
                "A run in %s is further off than the %s a message of this transport can wait. Use the mode hybrid, which looks for what is far."
                        .formatted(delay(due), transport.longestDelay()));
    }

    /** About how long until then. A message that comes too early or too late costs a look: the machine's clock is good enough. */
    public static Duration delay(Enqueue.Due due) {
        if (due instanceof Enqueue.Due.After after) return after.delay();
        Duration left = Duration.between(Instant.ofEpochMilli(WallClock.millis()), ((Enqueue.Due.At) due).instant());
        return left.isNegative() ? Duration.ZERO : left;
    }

    private static CarillonException invalid(String message) {
        return new CarillonException(ErrorCode.INVALID_OPTION, message);
    }
}
