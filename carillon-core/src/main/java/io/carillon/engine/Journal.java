package io.carillon.engine;

import io.carillon.run.Attempt;
import io.carillon.run.ErrorText;
import io.carillon.run.Transition;
import io.carillon.schedule.ScheduleEvent;
import io.carillon.schedule.ScheduleEvent.Instants;
import io.carillon.schedule.TickPlan;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One line in the log for each thing that listeners are told. */
final class Journal {
    private static final Logger log = LoggerFactory.getLogger(Journal.class);

    private Journal() {}

    static void planned(TickPlan plan) {
        if (log.isDebugEnabled() && !plan.ticks().isEmpty())
            log.debug(
                    "ticks planned schedule={} project={} ticks={} from={}",
                    plan.read().name(),
                    plan.read().definition().project(),
                    plan.ticks().size(),
                    plan.ticks().get(0).plannedAt());
    }

    static void started(Attempt attempt, Duration waited) {
        if (log.isDebugEnabled())
            log.debug(
                    "run started run={} queue={} handler={} attempt={} late_ms={}",
                    attempt.run(),
                    attempt.lane().queue(),
                    attempt.target().name(),
                    attempt.number(),
                    waited.toMillis());
    }

    static void ended(Attempt attempt, Transition transition) {
        if (transition instanceof Transition.Die die)
            log.warn(
                    "run dead run={} queue={} handler={} attempt={} error={}",
                    attempt.run(),
                    attempt.lane().queue(),
                    attempt.target().name(),
                    attempt.number(),
                    ErrorText.firstLine(die.error()));
        else
            log.debug(
                    "run ended run={} attempt={} next={}",
                    attempt.run(),
                    attempt.number(),
                    transition.getClass().getSimpleName());
    }

    static void write(ScheduleEvent event) {
        String schedule = event.schedule();
        String project = event.project();
        if (event instanceof ScheduleEvent.Created)
            log.info("schedule created schedule={} project={}", schedule, project);
        else if (event instanceof ScheduleEvent.Changed changed)
            log.info("schedule changed schedule={} project={} version={}", schedule, project, changed.version());
        else if (event instanceof ScheduleEvent.Paused paused)
            log.info(
                    "schedule paused schedule={} project={} by={} until={} reason={}",
                    schedule,
                    project,
                    paused.by(),
                    paused.until(),
                    paused.reason());
        else if (event instanceof ScheduleEvent.Resumed)
            log.info("schedule resumed schedule={} project={}", schedule, project);
        else if (event instanceof ScheduleEvent.Deleted)
            log.info("schedule deleted schedule={} project={}", schedule, project);
        else if (event instanceof ScheduleEvent.Missed missed) {
            Instants all = missed.instants();
            log.warn(
                    "instants missed schedule={} project={} count={} from={} to={} reason={}",
                    schedule,
                    project,
                    all.count(),
                    all.from(),
                    all.to(),
                    all.reason());
        } else if (event instanceof ScheduleEvent.Skipped skipped) {
            Instants all = skipped.instants();
            log.info(
                    "instants skipped schedule={} project={} count={} from={} to={} reason={}",
                    schedule,
                    project,
                    all.count(),
                    all.from(),
                    all.to(),
                    all.reason());
        } else throw new AssertionError("no line for " + event.getClass().getSimpleName());
    }
}
