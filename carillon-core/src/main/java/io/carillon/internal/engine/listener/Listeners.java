package io.carillon.internal.engine.listener;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.spi.RunEvent;
import io.carillon.spi.RunListener;
import io.carillon.spi.ScheduleEvent;
import io.carillon.spi.ScheduleListener;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The listeners of an engine: blocking listeners may be slow, non-blocking listeners must return quickly. */
public record Listeners(ListenerPair blocking, ListenerPair nonBlocking) {
    private static final Logger log = LoggerFactory.getLogger(Listeners.class);
    private static final RunListener NO_RUN_LISTENER = event -> {};
    private static final ScheduleListener NO_SCHEDULE_LISTENER = event -> {};
    private static final ListenerPair NO_LISTENERS = new ListenerPair(NO_RUN_LISTENER, NO_SCHEDULE_LISTENER);

    /** A listener for runs and a listener for schedules. */
    public record ListenerPair(RunListener runs, ScheduleListener schedules) {
        boolean hasRunListener() {
            return runs != NO_RUN_LISTENER;
        }

        boolean hasScheduleListener() {
            return schedules != NO_SCHEDULE_LISTENER;
        }

        private ListenerPair withRunListener(RunListener listener) {
            return new ListenerPair(hasRunListener() ? combineRunListeners(runs, listener) : listener, schedules);
        }

        private ListenerPair withScheduleListener(ScheduleListener listener) {
            return new ListenerPair(
                    runs, hasScheduleListener() ? combineScheduleListeners(schedules, listener) : listener);
        }
    }

    /** The listeners that the parts of the engine notify. They call the listeners of the user and never throw. */
    public record EngineListeners(AttemptListener attempts, ScheduleListener schedules) {}

    /** Returns an empty set of listeners. */
    public static Listeners none() {
        return new Listeners(NO_LISTENERS, NO_LISTENERS);
    }

    /** Returns these listeners and the given one. */
    public Listeners withRunListener(RunListener listener) {
        return listener.isNonBlocking()
                ? new Listeners(blocking, nonBlocking.withRunListener(listener))
                : new Listeners(blocking.withRunListener(listener), nonBlocking);
    }

    /** Returns these listeners and the given one. */
    public Listeners withScheduleListener(ScheduleListener listener) {
        return listener.isNonBlocking()
                ? new Listeners(blocking, nonBlocking.withScheduleListener(listener))
                : new Listeners(blocking.withScheduleListener(listener), nonBlocking);
    }

    /** Returns a listener that calls both listeners, the second even if the first throws. */
    private static RunListener combineRunListeners(RunListener first, RunListener second) {
        return event -> {
            try {
                first.onRunEvent(event);
            } finally {
                second.onRunEvent(event);
            }
        };
    }

    /** Returns a listener that calls both listeners, the second even if the first throws. */
    private static ScheduleListener combineScheduleListeners(ScheduleListener first, ScheduleListener second) {
        return event -> {
            try {
                first.onScheduleEvent(event);
            } finally {
                second.onScheduleEvent(event);
            }
        };
    }

    boolean hasRunListener() {
        return blocking.hasRunListener() || nonBlocking.hasRunListener();
    }

    /**
     * Returns listeners that write to the log and call all listeners on the calling thread. Exceptions of a listener
     * are logged and not propagated.
     */
    public EngineListeners onCallingThread() {
        return new EngineListeners(
                new AttemptListener() {
                    @Override
                    public void onAttemptStarted(Attempt attempt, Duration late) {
                        LifecycleLog.started(attempt, late);
                        if (hasRunListener()) callAll(RunEvents.started(attempt, late));
                    }

                    @Override
                    public void onAttemptEnded(Attempt attempt, Transition transition, Duration took) {
                        LifecycleLog.ended(attempt, transition);
                        if (hasRunListener()) callAll(RunEvents.ended(attempt, transition, took));
                    }
                },
                event -> {
                    LifecycleLog.write(event);
                    callSafely(() -> nonBlocking.schedules.onScheduleEvent(event));
                    if (isForBlockingListeners(event)) callSafely(() -> blocking.schedules.onScheduleEvent(event));
                });
    }

    private void callAll(RunEvent event) {
        callSafely(() -> nonBlocking.runs.onRunEvent(event));
        callSafely(() -> blocking.runs.onRunEvent(event));
    }

    /** Returns false for planned ticks: those of many schedules would fill the queue, so that other events are lost. */
    static boolean isForBlockingListeners(ScheduleEvent event) {
        return !(event instanceof ScheduleEvent.Planned);
    }

    static void callSafely(Runnable listener) {
        try {
            listener.run();
        } catch (Throwable failure) {
            log.warn("listener failed", failure);
        }
    }
}
