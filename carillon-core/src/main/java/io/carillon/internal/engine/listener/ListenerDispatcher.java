package io.carillon.internal.engine.listener;

import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.spi.RunEvent;
import io.carillon.spi.ScheduleEvent;
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
public final class ListenerDispatcher implements Loop.Task, AttemptListener {
    private static final Logger log = LoggerFactory.getLogger(ListenerDispatcher.class);
    private final Loop loop = new Loop("listeners", true, this);
    private static final int MAX_WAITING = 100_000;

    private final Listeners.ListenerPair blocking;
    private final Listeners.ListenerPair nonBlocking;
    private final boolean hasRunListener;
    private final ConcurrentLinkedQueue<Runnable> notifications = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicLong droppedCount = new AtomicLong();

    public ListenerDispatcher(Listeners listeners) {
        this.blocking = listeners.blocking();
        this.nonBlocking = listeners.nonBlocking();
        this.hasRunListener = listeners.hasRunListener();
    }

    /** Returns listeners that queue notifications and return immediately. */
    public Listeners.EngineListeners asListeners() {
        return new Listeners.EngineListeners(this, this::dispatch);
    }

    @Override
    public void onAttemptStarted(Attempt attempt, Duration late) {
        LifecycleLog.started(attempt, late);
        if (hasRunListener) dispatch(RunEvents.started(attempt, late));
    }

    @Override
    public void onAttemptEnded(Attempt attempt, Transition transition, Duration took) {
        LifecycleLog.ended(attempt, transition);
        if (hasRunListener) dispatch(RunEvents.ended(attempt, transition, took));
    }

    private void dispatch(RunEvent event) {
        Listeners.callSafely(() -> nonBlocking.runs().onRunEvent(event));
        if (blocking.hasRunListener())
            add(() -> Listeners.callSafely(() -> blocking.runs().onRunEvent(event)));
    }

    private void dispatch(ScheduleEvent event) {
        LifecycleLog.write(event);
        Listeners.callSafely(() -> nonBlocking.schedules().onScheduleEvent(event));
        if (blocking.hasScheduleListener() && Listeners.isForBlockingListeners(event))
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
        if (before == 0) loop.wake();
    }

    /** Returns whether all notifications were delivered. */
    public boolean isIdle() {
        return waiting.get() == 0;
    }

    /** Returns the thread that repeats this task. */
    public Loop loop() {
        return loop;
    }

    @Override
    public void runRound() throws InterruptedException {
        for (Runnable one = notifications.poll(); one != null; one = notifications.poll()) {
            one.run();
            waiting.decrementAndGet();
        }
        long lost = droppedCount.getAndSet(0);
        if (lost > 0) log.warn("listeners are too slow; events dropped events={}", lost);
        loop.sleep(1_000_000_000L);
    }
}
