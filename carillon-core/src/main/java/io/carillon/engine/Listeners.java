package io.carillon.engine;

import io.carillon.run.Attempt;
import io.carillon.run.RunListener;
import io.carillon.run.Transition;
import io.carillon.schedule.ScheduleListener;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Who wants to hear of runs and of schedules; {@code counters} are those of the former that are quick. */
public record Listeners(RunListener runs, RunListener counters, ScheduleListener schedules) {
    private static final Logger log = LoggerFactory.getLogger(Listeners.class);

    /** One listener, quick or not. */
    public Listeners(RunListener runs, ScheduleListener schedules) {
        this(runs.quick() ? RunListener.none() : runs, runs.quick() ? runs : RunListener.none(), schedules);
    }

    /** Nobody. */
    public static Listeners none() {
        return new Listeners(RunListener.none(), ScheduleListener.none());
    }

    /** The same, told on the calling thread and in the log; what they throw goes no further. */
    public Listeners here() {
        return new Listeners(
                new RunListener() {
                    @Override
                    public void started(Attempt attempt, Duration waited) {
                        quietly(() -> counters.started(attempt, waited));
                        quietly(() -> runs.started(attempt, waited));
                    }

                    @Override
                    public void planned(String project, String schedule, String policy, int ticks, long missed) {
                        quietly(() -> counters.planned(project, schedule, policy, ticks, missed));
                        quietly(() -> runs.planned(project, schedule, policy, ticks, missed));
                    }

                    @Override
                    public void ended(Attempt attempt, Transition transition, Duration took) {
                        Journal.ended(attempt, transition);
                        tell(counters, attempt, transition, took);
                        tell(runs, attempt, transition, took);
                    }
                },
                event -> {
                    Journal.write(event);
                    quietly(() -> schedules.heard(event));
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
