package io.carillon.engine;

import io.carillon.run.Attempt;
import io.carillon.run.RunListener;
import io.carillon.run.Transition;
import io.carillon.schedule.ScheduleEvent;
import io.carillon.schedule.ScheduleListener;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells listeners what happened, in order, on a thread of its own: a slow one holds up nobody. What comes while too much waits is not told, and the log says
 * how much that was; the log itself is written at once, and quick listeners are told at once.
 */
final class Teller extends Loop implements RunListener {
    private static final Logger log = LoggerFactory.getLogger(Teller.class);
    private static final int MOST = 100_000;

    private final Listeners.Told slow;
    private final Listeners.Told quick;
    private final boolean anybody;
    private final ConcurrentLinkedQueue<Runnable> news = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicLong untold = new AtomicLong();

    Teller(Listeners listeners) {
        super("tell", true);
        this.slow = listeners.slow();
        this.quick = listeners.quick();
        this.anybody = slow.runs() != RunListener.NONE;
    }

    /** Listeners that put down what they hear and go on. */
    Listeners.Told later() {
        return new Listeners.Told(this, this::heard);
    }

    @Override
    public void started(Attempt attempt, Duration waited) {
        Journal.started(attempt, waited);
        Listeners.quietly(() -> quick.runs().started(attempt, waited));
        if (anybody) add(() -> Listeners.quietly(() -> slow.runs().started(attempt, waited)));
    }

    @Override
    public void planned(String project, String schedule, int ticks) {
        Listeners.quietly(() -> quick.runs().planned(project, schedule, ticks));
        if (anybody) add(() -> Listeners.quietly(() -> slow.runs().planned(project, schedule, ticks)));
    }

    @Override
    public void ended(Attempt attempt, Transition transition, Duration took) {
        Journal.ended(attempt, transition);
        Listeners.tell(quick.runs(), attempt, transition, took);
        if (anybody) add(() -> Listeners.tell(slow.runs(), attempt, transition, took));
    }

    private void heard(ScheduleEvent event) {
        Journal.write(event);
        Listeners.quietly(() -> quick.schedules().heard(event));
        if (slow.schedules() != ScheduleListener.NONE)
            add(() -> Listeners.quietly(() -> slow.schedules().heard(event)));
    }

    private void add(Runnable one) {
        int before = waiting.getAndIncrement();
        if (before >= MOST) {
            waiting.decrementAndGet();
            untold.incrementAndGet();
            return;
        }
        news.add(one);
        if (before == 0) wake();
    }

    /** Whether everything was told. */
    boolean idle() {
        return waiting.get() == 0;
    }

    @Override
    void turn() throws InterruptedException {
        for (Runnable one = news.poll(); one != null; one = news.poll()) {
            one.run();
            waiting.decrementAndGet();
        }
        long lost = untold.getAndSet(0);
        if (lost > 0) log.warn("listeners are too slow, they were not told everything events={}", lost);
        sleep(1_000_000_000L);
    }
}
