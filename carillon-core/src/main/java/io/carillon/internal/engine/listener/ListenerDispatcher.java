package io.carillon.internal.engine.listener;

import io.carillon.internal.engine.loop.Loop;
import io.carillon.run.Attempt;
import io.carillon.run.Transition;
import io.carillon.spi.RunListener;
import io.carillon.spi.ScheduleEvent;
import io.carillon.spi.ScheduleListener;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies listeners in order, on its own thread, so that a slow listener delays nothing else. While too many
 * notifications wait, further ones are dropped, and the log reports how many. Log lines are written immediately, and
 * non-blocking listeners are called immediately.
 */
public final class ListenerDispatcher extends Loop implements RunListener {
    private static final Logger log = LoggerFactory.getLogger(ListenerDispatcher.class);
    private static final int MAX_WAITING = 100_000;

    private final Listeners.ListenerPair blocking;
    private final Listeners.ListenerPair nonBlocking;
    private final boolean hasBlockingRunListener;
    private final ConcurrentLinkedQueue<Runnable> notifications = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicLong droppedCount = new AtomicLong();

    public ListenerDispatcher(Listeners listeners) {
        super("listeners", true);
        this.blocking = listeners.blocking();
        this.nonBlocking = listeners.nonBlocking();
        this.hasBlockingRunListener = blocking.runs() != RunListener.NONE;
    }

    /** Returns listeners that queue notifications and return immediately. */
    public Listeners.ListenerPair asListeners() {
        return new Listeners.ListenerPair(this, this::dispatch);
    }

    @Override
    public void onAttemptStarted(Attempt attempt, Duration waited) {
        LifecycleLog.started(attempt, waited);
        Listeners.callSafely(() -> nonBlocking.runs().onAttemptStarted(attempt, waited));
        if (hasBlockingRunListener)
            add(() -> Listeners.callSafely(() -> blocking.runs().onAttemptStarted(attempt, waited)));
    }

    @Override
    public void onTicksPlanned(String project, String schedule, int ticks) {
        Listeners.callSafely(() -> nonBlocking.runs().onTicksPlanned(project, schedule, ticks));
        if (hasBlockingRunListener)
            add(() -> Listeners.callSafely(() -> blocking.runs().onTicksPlanned(project, schedule, ticks)));
    }

    @Override
    public void onAttemptEnded(Attempt attempt, Transition transition, Duration took) {
        LifecycleLog.ended(attempt, transition);
        Listeners.notifyEnded(nonBlocking.runs(), attempt, transition, took);
        if (hasBlockingRunListener) add(() -> Listeners.notifyEnded(blocking.runs(), attempt, transition, took));
    }

    private void dispatch(ScheduleEvent event) {
        LifecycleLog.write(event);
        Listeners.callSafely(() -> nonBlocking.schedules().onScheduleEvent(event));
        if (blocking.schedules() != ScheduleListener.NONE)
            add(() -> Listeners.callSafely(() -> blocking.schedules().onScheduleEvent(event)));
    }

    private void add(Runnable one) {
        int before = waiting.getAndIncrement();
        if (before >= MAX_WAITING) {
            waiting.decrementAndGet();
            droppedCount.incrementAndGet();
            return;
        }
        notifications.add(one);
        if (before == 0) wake();
    }

    /** Returns whether all notifications were delivered. */
    public boolean isIdle() {
        return waiting.get() == 0;
    }

    @Override
    public void runRound() throws InterruptedException {
        for (Runnable one = notifications.poll(); one != null; one = notifications.poll()) {
            one.run();
            waiting.decrementAndGet();
        }
        long lost = droppedCount.getAndSet(0);
        if (lost > 0) log.warn("listeners are too slow; events dropped events={}", lost);
        sleep(1_000_000_000L);
    }
}
