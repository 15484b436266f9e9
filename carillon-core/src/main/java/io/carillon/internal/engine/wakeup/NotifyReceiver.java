package io.carillon.internal.engine.wakeup;

import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.store.node.Hint;
import io.carillon.internal.store.node.WakeChannel;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives hints by LISTEN on its own connection, and pings itself regularly to prove that the channel works. If a
 * ping does not arrive, it opens a new connection. Until then the node finds work by polling, so that a lost hint
 * costs only latency.
 */
final class NotifyReceiver implements Loop.Task {
    private static final Logger log = LoggerFactory.getLogger(NotifyReceiver.class);
    private final Loop loop = new Loop("listen", true, this);
    private static final Duration MAX_WAIT = Duration.ofMillis(500);
    /**
     * Together with {@link #PING_TIMEOUT_NANOS} less than 10 s: the longest time a dead connection stays undetected.
     */
    private static final Duration PING_INTERVAL = Duration.ofMillis(3_500);

    private static final long PING_TIMEOUT_NANOS = Duration.ofSeconds(4).toNanos();
    private static final long FIRST_RECONNECT_DELAY = Duration.ofSeconds(1).toNanos();
    private static final long MAX_RECONNECT_DELAY = Duration.ofSeconds(4).toNanos();

    /** Waits longer than after a failure: a pooler normally stays between the node and PostgreSQL. */
    private static final long POOLER_RETRY_DELAY = Duration.ofSeconds(30).toNanos();

    private final WakeChannel channel;
    private final Consumer<Hint> onHint;
    private final WakeupSender wakeupSender;
    private final String senderId;
    private final Runnable onOpen;
    private WakeChannel.@Nullable Subscription subscription;
    /** Random per node, so that usually one node pings first and the other nodes receive its ping. */
    private final long pingAfterNanos =
            PING_INTERVAL.toNanos() + ThreadLocalRandom.current().nextLong(PING_INTERVAL.toNanos() / 5);

    private long lastActivity;
    private boolean awaitingPing;
    private boolean behindPooler;
    private volatile Consumer<Boolean> onListeningChanged = now -> {};
    private long reconnectAt = System.nanoTime();
    private long reconnectDelay;
    private volatile boolean listening;

    NotifyReceiver(
            WakeChannel channel, Consumer<Hint> onHint, WakeupSender wakeupSender, String senderId, Runnable onOpen) {
        this.channel = channel;
        this.onHint = onHint;
        this.wakeupSender = wakeupSender;
        this.senderId = senderId;
        this.onOpen = onOpen;
    }

    /** Sets the action that runs when the channel is proven to work, and when it no longer is. */
    void onListeningChanged(Consumer<Boolean> action) {
        onListeningChanged = action;
    }

    /** Returns whether the channel is proven to work. */
    boolean isListening() {
        return listening;
    }

    /** Returns the thread that repeats this task. */
    Loop loop() {
        return loop;
    }

    @Override
    public void runRound() throws InterruptedException {
        WakeChannel.Subscription open = subscription;
        if (open == null) {
            long left = reconnectAt - System.nanoTime();
            if (left > 0) {
                loop.sleep(left);
                return;
            }
            open = channel.listen().orElse(null);
            if (open == null) {
                if (!behindPooler) log.warn("LISTEN cannot work behind a pooler in transaction mode; polling instead");
                behindPooler = true;
                reconnectAt = System.nanoTime() + POOLER_RETRY_DELAY;
                return;
            }
            behindPooler = false;
            subscription = open;
            ping();
            // Hints sent before the subscription was open are lost, so the node polls once.
            onOpen.run();
        }
        for (Hint hint : open.await(untilPing())) {
            recordActivity();
            onHint.accept(hint);
        }
        long since = System.nanoTime() - lastActivity;
        if (awaitingPing && since > PING_TIMEOUT_NANOS) {
            if (listening) log.warn("LISTEN delivers nothing; reconnecting, polling meanwhile");
            reconnectAt = System.nanoTime() + reconnectDelay;
            // Where LISTEN never works, reconnect less often to spare connections.
            reconnectDelay =
                    Math.min(MAX_RECONNECT_DELAY, reconnectDelay == 0 ? FIRST_RECONNECT_DELAY : reconnectDelay * 2);
            closeSubscription();
        } else if (!awaitingPing && since > pingAfterNanos) {
            ping();
        }
    }

    /** Returns the exact time until the next ping, so that nodes do not wake up together and ping together. */
    private Duration untilPing() {
        if (awaitingPing) return MAX_WAIT;
        long left = Math.max(lastActivity + pingAfterNanos - System.nanoTime(), 1_000_000L);
        return left < MAX_WAIT.toNanos() ? Duration.ofNanos(left) : MAX_WAIT;
    }

    private void ping() {
        lastActivity = System.nanoTime();
        awaitingPing = true;
        wakeupSender.sendHint(new Hint.Ping(senderId));
    }

    /**
     * Records that a hint arrived. Any hint proves that the channel works, so one ping serves all
     * nodes that listen.
     */
    private void recordActivity() {
        awaitingPing = false;
        lastActivity = System.nanoTime();
        reconnectDelay = 0;
        if (listening) return;
        log.info("LISTEN works");
        listening = true;
        onListeningChanged.accept(true);
    }

    @Override
    public void onFailure(Throwable failure) {
        closeSubscription();
    }

    private void closeSubscription() {
        boolean wasListening = listening;
        listening = false;
        if (wasListening) onListeningChanged.accept(false);
        WakeChannel.Subscription open = subscription;
        subscription = null;
        if (open != null) open.close();
    }

    @Override
    public void onEnd() {
        closeSubscription();
    }
}
