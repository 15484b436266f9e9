package io.carillon.internal.engine.listener;

import io.carillon.run.Attempt;
import io.carillon.run.Transition;
import io.carillon.spi.RunListener;
import io.carillon.spi.ScheduleListener;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The listeners of an engine: blocking listeners may be slow, non-blocking listeners must return quickly. */
public record Listeners(ListenerPair blocking, ListenerPair nonBlocking) {
    private static final Logger log = LoggerFactory.getLogger(Listeners.class);

    /** A listener for runs and a listener for schedules. */
    public record ListenerPair(RunListener runs, ScheduleListener schedules) {
        /** No listeners. */
        public static final ListenerPair NONE = new ListenerPair(RunListener.NONE, ScheduleListener.NONE);
    }

    /** Creates a set of blocking listeners. */
    public Listeners(RunListener runs, ScheduleListener schedules) {
        this(new ListenerPair(runs, schedules), ListenerPair.NONE);
    }

    /** Returns an empty set of listeners. */
    public static Listeners none() {
        return new Listeners(ListenerPair.NONE, ListenerPair.NONE);
    }

    /** Returns these listeners and the given one. */
    public Listeners with(RunListener listener) {
        return listener.isNonBlocking()
                ? new Listeners(
                        blocking,
                        new ListenerPair(RunListener.combine(nonBlocking.runs, listener), nonBlocking.schedules))
                : new Listeners(
                        new ListenerPair(RunListener.combine(blocking.runs, listener), blocking.schedules),
                        nonBlocking);
    }

    /** Returns these listeners and the given one. */
    public Listeners with(ScheduleListener listener) {
        return listener.isNonBlocking()
                ? new Listeners(
                        blocking,
                        new ListenerPair(nonBlocking.runs, ScheduleListener.combine(nonBlocking.schedules, listener)))
                : new Listeners(
                        new ListenerPair(blocking.runs, ScheduleListener.combine(blocking.schedules, listener)),
                        nonBlocking);
    }

    /**
     * Returns listeners that write to the log and call all listeners on the calling thread. Exceptions of a listener
     * are logged and not propagated.
     */
    public ListenerPair onCallingThread() {
        return new ListenerPair(
                new RunListener() {
                    @Override
                    public void onAttemptStarted(Attempt attempt, Duration waited) {
                        LifecycleLog.started(attempt, waited);
                        callSafely(() -> nonBlocking.runs.onAttemptStarted(attempt, waited));
                        callSafely(() -> blocking.runs.onAttemptStarted(attempt, waited));
                    }

                    @Override
                    public void onTicksPlanned(String project, String schedule, int ticks) {
                        callSafely(() -> nonBlocking.runs.onTicksPlanned(project, schedule, ticks));
                        callSafely(() -> blocking.runs.onTicksPlanned(project, schedule, ticks));
                    }

                    @Override
                    public void onAttemptEnded(Attempt attempt, Transition transition, Duration took) {
                        LifecycleLog.ended(attempt, transition);
                        notifyEnded(nonBlocking.runs, attempt, transition, took);
                        notifyEnded(blocking.runs, attempt, transition, took);
                    }
                },
                event -> {
                    LifecycleLog.write(event);
                    callSafely(() -> nonBlocking.schedules.onScheduleEvent(event));
                    callSafely(() -> blocking.schedules.onScheduleEvent(event));
                });
    }

    static void notifyEnded(RunListener listener, Attempt attempt, Transition transition, Duration took) {
        callSafely(() -> listener.onAttemptEnded(attempt, transition, took));
        if (transition instanceof Transition.MarkDead markDead)
            callSafely(() -> listener.onRunDead(attempt, markDead.error()));
    }

    static void callSafely(Runnable listener) {
        try {
            listener.run();
        } catch (Throwable failure) {
            log.warn("listener failed", failure);
        }
    }
}
