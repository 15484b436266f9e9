package io.carillon.engine;

import io.carillon.run.Lane;
import io.carillon.store.Signal;
import io.carillon.store.WakeChannel;
import io.carillon.store.WakeTransport;
import io.carillon.store.Wakeup;
import io.carillon.value.DatabaseClock;
import io.carillon.value.Uuid7;
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
 * What wakes this node and how it wakes others: LISTEN and NOTIFY, a transport of the user's, or nothing but its own looks. It may change while the node
 * runs. Whatever it is, the pace of the looks is the floor under it.
 */
final class Waking {
    private static final Logger log = LoggerFactory.getLogger(Waking.class);

    /** Whom to tell what came: a signal for all nodes, or a message that this node alone received. */
    record Ears(Consumer<Signal> signal, Consumer<Lane> message, Runnable lookNow) {}

    private final WakeChannel postgres;
    private final DatabaseClock clock;
    private final Duration poll;
    private final PollPace pace;
    private final String me = Uuid7.next().toString();
    private final Announcer announcer = new Announcer(me, this::send);
    private Ears ears = new Ears(signal -> {}, lane -> {}, () -> {});
    private volatile Wakeup wakeup;
    private volatile @Nullable Listener listener;
    private @Nullable AutoCloseable subscription;

    Waking(WakeChannel postgres, DatabaseClock clock, EngineConfig config) {
        this.postgres = postgres;
        this.clock = clock;
        this.poll = config.pace().poll();
        this.wakeup = config.wakeup();
        this.pace = new PollPace(poll, poll);
        bound(false);
    }

    Announcer announcer() {
        return announcer;
    }

    PollPace pace() {
        return pace;
    }

    Wakeup wakeup() {
        return wakeup;
    }

    /** Whether this node said so itself. */
    boolean own(Signal.Work work) {
        return work.sender().equals(me);
    }

    /** Whether LISTEN is proven to work. */
    boolean hearing() {
        Listener open = listener;
        return open != null && open.hearing();
    }

    List<Loop> loops() {
        Listener open = listener;
        return open == null ? List.of(announcer) : List.of(announcer, open);
    }

    synchronized void start(Ears ears) {
        this.ears = ears;
        announcer.start();
        begin();
    }

    /** Changes what wakes this node; the new way holds when it returns, and what was signalled meanwhile is looked for. */
    synchronized void use(Wakeup next) {
        if (next.equals(wakeup)) return;
        stopHearing(Wait.PATIENTLY);
        log.info(
                "wake-up changed from={} to={}",
                wakeup.mode().text(),
                next.mode().text());
        wakeup = next;
        begin();
        ears.lookNow().run();
    }

    private void begin() {
        bound(false);
        WakeTransport transport = wakeup.transport();
        if (transport != null) {
            subscription = transport.receive(message -> ears.message().accept(message.lane()));
        } else if (wakeup.mode() == Wakeup.Mode.NOTIFY) {
            Listener opened = new Listener(postgres, ears.signal(), announcer, me, ears.lookNow());
            opened.onHearing(this::bound);
            listener = opened;
            opened.start();
        }
    }

    /** No more hints come in; others are still told. */
    synchronized void stopHearing(Wait wait) {
        Listener open = listener;
        listener = null;
        if (open != null) Loop.end(List.of(open), wait);
        AutoCloseable subscribed = subscription;
        subscription = null;
        if (subscribed == null) return;
        try {
            subscribed.close();
        } catch (Exception failure) {
            log.warn("the transport could not be left", failure);
        }
    }

    /** The floor of each mode. Without LISTEN the node steps down to polling, but never below the floor it promised. */
    private void bound(boolean hearing) {
        Duration near = wakeup.least().compareTo(poll) < 0 ? wakeup.least() : poll;
        switch (wakeup.mode()) {
            case NOTIFY -> pace.between(hearing ? poll : near, poll);
            case HYBRID -> pace.between(near, poll);
            case QUEUE, HTTP -> pace.between(wakeup.most(), wakeup.most());
            case POLLING -> pace.between(wakeup.least(), wakeup.most());
        }
        ears.lookNow().run();
    }

    private void send(List<Signal> signals) {
        WakeTransport transport = wakeup.transport();
        if (transport != null) work(signals).forEach(work -> transport.carries(work.lane(), until(work.readyAt())));
        else if (wakeup.notifies()) postgres.send(signals);
    }

    /** A message reaches one node only: what all must hear is left to their own looks. */
    private static Stream<Signal.Work> work(List<Signal> signals) {
        return signals.stream().filter(Signal.Work.class::isInstance).map(Signal.Work.class::cast);
    }

    private Duration until(Instant readyAt) {
        Duration left = Duration.between(clock.now(), readyAt);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** In a crowd only a few hear of new work. Whoever finds more of it than it can take calls for others, who do the same: a backlog reaches all nodes in a moment. */
    static final class Recruiter {
        private static final long EVERY_NANOS = 1_000_000_000L;

        private final Crowd crowd;
        private final Announcer announcer;
        private final AtomicLong last = new AtomicLong(System.nanoTime() - EVERY_NANOS);
        private volatile @Nullable Lane owed;

        Recruiter(Crowd crowd, Announcer announcer) {
            this.crowd = crowd;
            this.announcer = announcer;
        }

        /** This lane has more than this node can take now. */
        void more(Lane lane) {
            if (!crowd.large()) return;
            long now = System.nanoTime();
            long before = last.get();
            if (now - before >= EVERY_NANOS && last.compareAndSet(before, now)) {
                owed = null;
                announcer.work(lane, Instant.EPOCH);
            } else owed = lane;
        }

        /**
         * Makes up for a call that came too soon after the one before: those who heard that one may all have had enough to do, and their calls may have come
         * too soon as well. Returns in how many nanoseconds to come back for the next.
         */
        long callAgain() {
            Lane lane = owed;
            if (lane == null) return Long.MAX_VALUE;
            long left = last.get() + EVERY_NANOS - System.nanoTime();
            if (left > 0) return left;
            more(lane);
            return Long.MAX_VALUE;
        }
    }

    /** How long the claimer may go without a look of its own: shorter with each look that finds work, longer with each that finds none. */
    static final class PollPace {
        private static final double BUSY = 0.8;
        private static final double IDLE = 1.2;
        private static final Duration RAREST = Duration.ofSeconds(30);

        private record Pace(long least, long most, double current) {}

        private volatile Pace pace;

        PollPace(Duration least, Duration most) {
            pace = new Pace(least.toNanos(), most.toNanos(), least.toNanos());
        }

        /** From now on between these; the pace so far is kept as far as they allow. */
        synchronized void between(Duration least, Duration most) {
            pace = held(least.toNanos(), most.toNanos(), pace.current);
        }

        synchronized void looked(boolean found) {
            pace = held(pace.least, pace.most, pace.current * (found ? BUSY : IDLE));
        }

        Duration now() {
            return Duration.ofNanos((long) pace.current);
        }

        /** As rarely as one of a crowd may look, where others look meanwhile. */
        Duration rarest() {
            Duration most = Duration.ofNanos(pace.most);
            Duration shared = most.multipliedBy(10);
            if (shared.compareTo(RAREST) > 0) shared = RAREST;
            return shared.compareTo(most) > 0 ? shared : most;
        }

        private static Pace held(long least, long most, double current) {
            return new Pace(least, most, Math.min((double) most, Math.max((double) least, current)));
        }
    }
}
