package io.carillon.internal.engine.wakeup;

import io.carillon.NodeConfig;
import io.carillon.Wakeup;
import io.carillon.internal.engine.loop.BoundedWait;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.engine.node.ClusterSize;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.node.Hint;
import io.carillon.internal.store.node.WakeChannel;
import io.carillon.internal.value.DatabaseClock;
import io.carillon.internal.value.Uuid7;
import io.carillon.spi.WakeTransport;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way this node is woken and wakes other nodes: LISTEN and NOTIFY, a transport that the user provides, or polling
 * only. It may change while the node runs. Polling continues in every mode.
 */
public final class WakeupController {
    private static final Logger log = LoggerFactory.getLogger(WakeupController.class);

    /** The receivers of wake-ups: hints for all nodes, messages for this node only, and the request to poll. */
    public record WakeupHandlers(Consumer<Hint> onHint, Consumer<Lane> onMessage, Runnable pollAll) {}

    private final WakeChannel channel;
    private final DatabaseClock clock;
    private final Duration poll;
    private final PollInterval pollInterval;
    private final String senderId = Uuid7.next().toString();
    private final WakeupSender wakeupSender = new WakeupSender(senderId, this::send);
    private WakeupHandlers handlers = new WakeupHandlers(hint -> {}, lane -> {}, () -> {});
    private volatile Wakeup wakeup;
    private volatile @Nullable NotifyReceiver receiver;
    private @Nullable AutoCloseable subscription;

    public WakeupController(WakeChannel channel, DatabaseClock clock, NodeConfig config) {
        this.channel = channel;
        this.clock = clock;
        this.poll = config.pollInterval();
        this.wakeup = config.wakeup();
        this.pollInterval = new PollInterval(poll, poll);
        applyPollBounds(false);
    }

    public WakeupSender wakeupSender() {
        return wakeupSender;
    }

    public PollInterval pollInterval() {
        return pollInterval;
    }

    public Wakeup wakeup() {
        return wakeup;
    }

    /** Returns whether this node sent the hint. */
    public boolean isOwn(Hint.Work work) {
        return work.sender().equals(senderId);
    }

    /** Returns whether LISTEN is proven to work. */
    public boolean isListening() {
        NotifyReceiver open = receiver;
        return open != null && open.isListening();
    }

    public List<Loop> loops() {
        NotifyReceiver open = receiver;
        return open == null ? List.of(wakeupSender.loop()) : List.of(wakeupSender.loop(), open.loop());
    }

    public synchronized void start(WakeupHandlers handlers) {
        this.handlers = handlers;
        wakeupSender.loop().start();
        startReceiving();
    }

    /**
     * Changes the wake-up mode. The new mode is active when this returns, and a poll finds the work that
     * was announced meanwhile.
     */
    public synchronized void changeTo(Wakeup next) {
        if (next.equals(wakeup)) return;
        stopReceiving(BoundedWait.FULL_TIME);
        log.info(
                "wake-up changed from={} to={}",
                wakeup.mode().text(),
                next.mode().text());
        wakeup = next;
        startReceiving();
        handlers.pollAll().run();
    }

    private void startReceiving() {
        applyPollBounds(false);
        WakeTransport transport = wakeup.transport();
        if (transport != null) {
            subscription = transport.receive(
                    message -> handlers.onMessage().accept(new Lane(message.queue(), message.project())));
        } else if (wakeup.mode() == Wakeup.Mode.NOTIFY) {
            NotifyReceiver opened =
                    new NotifyReceiver(channel, handlers.onHint(), wakeupSender, senderId, handlers.pollAll());
            opened.onListeningChanged(this::applyPollBounds);
            receiver = opened;
            opened.loop().start();
        }
    }

    /** Stops receiving wake-ups. Other nodes are still notified. */
    public synchronized void stopReceiving(BoundedWait boundedWait) {
        NotifyReceiver open = receiver;
        receiver = null;
        if (open != null) Loop.stopAll(List.of(open.loop()), boundedWait);
        AutoCloseable subscribed = subscription;
        subscription = null;
        if (subscribed == null) return;
        try {
            subscribed.close();
        } catch (Exception failure) {
            log.warn("could not close the subscription of the wake-up transport", failure);
        }
    }

    /**
     * Sets the bounds of the poll interval for the current mode. While LISTEN does not work, NOTIFY mode polls more
     * often, and never less often than {@code poll}.
     */
    private void applyPollBounds(boolean listening) {
        Duration pollMin = wakeup.pollMin().compareTo(poll) < 0 ? wakeup.pollMin() : poll;
        switch (wakeup.mode()) {
            case NOTIFY -> pollInterval.setBounds(listening ? poll : pollMin, poll);
            case HYBRID -> pollInterval.setBounds(pollMin, poll);
            case QUEUE, HTTP -> pollInterval.setBounds(wakeup.pollMax(), wakeup.pollMax());
            case POLLING -> pollInterval.setBounds(wakeup.pollMin(), wakeup.pollMax());
        }
        handlers.pollAll().run();
    }

    private void send(List<Hint> hints) {
        WakeTransport transport = wakeup.transport();
        if (transport != null)
            workHints(hints).forEach(work -> transport.trySend(toMessage(work), delayUntil(work.readyAt())));
        else if (wakeup.notifies()) channel.send(hints);
    }

    /**
     * Returns the hints to send by a transport. A message reaches one node only, so the nodes find other
     * changes by polling.
     */
    private static Stream<Hint.Work> workHints(List<Hint> hints) {
        return hints.stream().filter(Hint.Work.class::isInstance).map(Hint.Work.class::cast);
    }

    private static WakeTransport.Message toMessage(Hint.Work work) {
        return new WakeTransport.Message(work.lane().project(), work.lane().queue());
    }

    private Duration delayUntil(Instant readyAt) {
        Duration left = Duration.between(clock.now(), readyAt);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /**
     * Announces a backlog. In a large cluster, only a few nodes respond to a hint. A node that finds more runs than it
     * can take announces the lane again, and so do the nodes that respond, so that a backlog reaches all nodes quickly.
     */
    public static final class BacklogBroadcaster {
        private static final long INTERVAL_NANOS = 1_000_000_000L;

        private final ClusterSize clusterSize;
        private final WakeupSender wakeupSender;
        private final AtomicLong lastSent = new AtomicLong(System.nanoTime() - INTERVAL_NANOS);
        private volatile @Nullable Lane pendingLane;

        public BacklogBroadcaster(ClusterSize clusterSize, WakeupSender wakeupSender) {
            this.clusterSize = clusterSize;
            this.wakeupSender = wakeupSender;
        }

        /** Reports that a lane has more runs than this node can take now. */
        public void reportBacklog(Lane lane) {
            if (!clusterSize.isLarge()) return;
            long now = System.nanoTime();
            long before = lastSent.get();
            if (now - before >= INTERVAL_NANOS && lastSent.compareAndSet(before, now)) {
                pendingLane = null;
                wakeupSender.announceWork(lane, Instant.EPOCH);
            } else pendingLane = lane;
        }

        /**
         * Sends an announcement that was held back because the last one was too recent: the nodes that received that
         * one may all be full, and may have held back their own. Returns after how many nanoseconds to call this again.
         */
        public long sendPending() {
            Lane lane = pendingLane;
            if (lane == null) return Long.MAX_VALUE;
            long left = lastSent.get() + INTERVAL_NANOS - System.nanoTime();
            if (left > 0) return left;
            reportBacklog(lane);
            return Long.MAX_VALUE;
        }
    }

    /** The time between polls. It shrinks with each poll that finds work and grows with each poll that finds none. */
    public static final class PollInterval {
        private static final double SHRINK_FACTOR = 0.8;
        private static final double GROWTH_FACTOR = 1.2;
        private static final Duration MAX_IN_CLUSTER = Duration.ofSeconds(30);

        private record IntervalState(long min, long max, double current) {}

        private volatile IntervalState state;

        public PollInterval(Duration min, Duration max) {
            state = new IntervalState(min.toNanos(), max.toNanos(), min.toNanos());
        }

        /** Sets the bounds. The current interval is kept as far as they allow. */
        public synchronized void setBounds(Duration min, Duration max) {
            state = clamp(min.toNanos(), max.toNanos(), state.current);
        }

        public synchronized void recordPoll(boolean found) {
            state = clamp(state.min, state.max, state.current * (found ? SHRINK_FACTOR : GROWTH_FACTOR));
        }

        public Duration current() {
            return Duration.ofNanos((long) state.current);
        }

        /** Returns the longest poll interval in a large cluster, where other nodes poll meanwhile. */
        public Duration maxInCluster() {
            Duration max = Duration.ofNanos(state.max);
            Duration shared = max.multipliedBy(10);
            if (shared.compareTo(MAX_IN_CLUSTER) > 0) shared = MAX_IN_CLUSTER;
            return shared.compareTo(max) > 0 ? shared : max;
        }

        private static IntervalState clamp(long min, long max, double current) {
            return new IntervalState(min, max, Math.min((double) max, Math.max((double) min, current)));
        }
    }
}
