package io.carillon.engine;

import io.carillon.run.Attempt;
import io.carillon.run.RunListener;
import io.carillon.run.Transition;
import io.carillon.schedule.ScheduleListener;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Those who hear of what happens and may take their time, and those who only count. */
public record Listeners(Told slow, Told quick) {
    private static final Logger log = LoggerFactory.getLogger(Listeners.class);

    /** Who is told of runs, and who of schedules. */
    public record Told(RunListener runs, ScheduleListener schedules) {
        /** Nobody. */
        public static final Told NOBODY = new Told(RunListener.NONE, ScheduleListener.NONE);
    }

    /** Listeners that may take their time. */
    public Listeners(RunListener runs, ScheduleListener schedules) {
        this(new Told(runs, schedules), Told.NOBODY);
    }

    /** Nobody. */
    public static Listeners none() {
        return new Listeners(Told.NOBODY, Told.NOBODY);
    }

    /** One more. */
    public Listeners and(RunListener listener) {
        return listener.quick()
                ? new Listeners(slow, new Told(RunListener.both(quick.runs, listener), quick.schedules))
                : new Listeners(new Told(RunListener.both(slow.runs, listener), slow.schedules), quick);
    }

    /** One more. */
    public Listeners and(ScheduleListener listener) {
        return listener.quick()
                ? new Listeners(slow, new Told(quick.runs, ScheduleListener.both(quick.schedules, listener)))
                : new Listeners(new Told(slow.runs, ScheduleListener.both(slow.schedules, listener)), quick);
    }

    /** All of them, told on the calling thread and in the log; what they throw goes no further. */
    public Told here() {
        return new Told(
                new RunListener() {
                    @Override
                    public void started(Attempt attempt, Duration waited) {
                        Journal.started(attempt, waited);
                        quietly(() -> quick.runs.started(attempt, waited));
                        quietly(() -> slow.runs.started(attempt, waited));
                    }

                    @Override
                    public void planned(String project, String schedule, int ticks) {
                        quietly(() -> quick.runs.planned(project, schedule, ticks));
                        quietly(() -> slow.runs.planned(project, schedule, ticks));
                    }

                    @Override
                    public void ended(Attempt attempt, Transition transition, Duration took) {
                        Journal.ended(attempt, transition);
                        tell(quick.runs, attempt, transition, took);
                        tell(slow.runs, attempt, transition, took);
                    }
                },
                event -> {
                    Journal.write(event);
                    quietly(() -> quick.schedules.heard(event));
                    quietly(() -> slow.schedules.heard(event));
                });
    }

    static void tell(RunListener listener, Attempt attempt, Transition transition, Duration took) {
        quietly(() -> listener.ended(attempt, transition, took));
        if (transition instanceof Transition.Die die) quietly(() -> listener.dead(attempt, die.error()));
    }

    static void quietly(Runnable listener) {
        try {
            listener.run();
        } catch (Throwable failure) {
            log.warn("a listener failed", failure);
        }
    }
}
