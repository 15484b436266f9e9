package io.carillon.engine;

import io.carillon.store.Signal;
import io.carillon.store.WakeChannel;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens for signals on a connection of its own and proves now and then, by a ping to itself, that the channel works. Without proof it opens a new ear; until
 * then polling is the floor, and nothing is lost but milliseconds.
 */
final class Listener extends Loop {
    private static final Logger log = LoggerFactory.getLogger(Listener.class);
    private static final Duration WAIT = Duration.ofMillis(500);
    /** Together less than ten seconds: so long may a dead connection pass for a living one. */
    private static final Duration PING = Duration.ofMillis(3_500);

    private static final long DEAF_NANOS = Duration.ofSeconds(4).toNanos();
    private static final long FIRST_REST = Duration.ofSeconds(1).toNanos();
    private static final long LONGEST_REST = Duration.ofSeconds(4).toNanos();

    /** A pooler does not go away by itself. */
    private static final long POOLED_REST = Duration.ofSeconds(30).toNanos();

    private final WakeChannel channel;
    private final Consumer<Signal> react;
    private final Announcer announcer;
    private final String me;
    private final Runnable onOpen;
    private WakeChannel.@Nullable Ear ear;
    /** Not the same for all, so that one pings before the others would. */
    private final long patience = PING.toNanos() + ThreadLocalRandom.current().nextLong(PING.toNanos() / 5);

    private long pinged;
    private boolean awaitingPing;
    private boolean pooled;
    private volatile Consumer<Boolean> onHearing = now -> {};
    private long openAt = System.nanoTime();
    private long rest;
    private volatile boolean hearing;

    Listener(WakeChannel channel, Consumer<Signal> react, Announcer announcer, String me, Runnable onOpen) {
        super("listen", true);
        this.channel = channel;
        this.react = react;
        this.announcer = announcer;
        this.me = me;
        this.onOpen = onOpen;
    }

    /** Told when the channel is proven to work, and when it no longer is. */
    void onHearing(Consumer<Boolean> action) {
        onHearing = action;
    }

    /** Whether the channel is proven to work. */
    boolean hearing() {
        return hearing;
    }

    @Override
    void turn() throws InterruptedException {
        WakeChannel.Ear open = ear;
        if (open == null) {
            long left = openAt - System.nanoTime();
            if (left > 0) {
                sleep(left);
                return;
            }
            open = channel.listen().orElse(null);
            if (open == null) {
                if (!pooled) log.warn("LISTEN cannot work behind a pooler in transaction mode, polling takes over");
                pooled = true;
                openAt = System.nanoTime() + POOLED_REST;
                return;
            }
            pooled = false;
            ear = open;
            ping();
            // Signals sent while nobody listened are gone: look for oneself.
            onOpen.run();
        }
        for (Signal signal : open.await(untilPing())) {
            heard();
            react.accept(signal);
        }
        long since = System.nanoTime() - pinged;
        if (awaitingPing && since > DEAF_NANOS) {
            if (hearing) log.warn("LISTEN is deaf, polling takes over and a new ear is opened");
            openAt = System.nanoTime() + rest;
            // Where no ear will ever hear: do not wear out the connections.
            rest = Math.min(LONGEST_REST, rest == 0 ? FIRST_REST : rest * 2);
            closeEar();
        } else if (!awaitingPing && since > patience) {
            ping();
        }
    }

    /** To the moment: if all who wait looked at their clocks together, the most impatient would not be one but many. */
    private Duration untilPing() {
        if (awaitingPing) return WAIT;
        long left = Math.max(pinged + patience - System.nanoTime(), 1_000_000L);
        return left < WAIT.toNanos() ? Duration.ofNanos(left) : WAIT;
    }

    private void ping() {
        pinged = System.nanoTime();
        awaitingPing = true;
        announcer.signal(new Signal.Ping(me));
    }

    /** Whatever came proves that the ear is open: where many listen, one ping is enough for all. */
    private void heard() {
        awaitingPing = false;
        pinged = System.nanoTime();
        rest = 0;
        if (hearing) return;
        log.info("LISTEN works");
        hearing = true;
        onHearing.accept(true);
    }

    @Override
    void onFailure(Throwable failure) {
        closeEar();
    }

    private void closeEar() {
        boolean heard = hearing;
        hearing = false;
        if (heard) onHearing.accept(false);
        WakeChannel.Ear open = ear;
        ear = null;
        if (open != null) open.close();
    }

    @Override
    void onEnd() {
        closeEar();
    }
}
