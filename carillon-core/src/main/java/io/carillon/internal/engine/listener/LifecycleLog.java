package io.carillon.internal.engine.listener;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.ErrorText;
import io.carillon.internal.run.Transition;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.value.ControlCharacters;
import io.carillon.spi.ScheduleEvent;
import io.carillon.spi.ScheduleEvent.AffectedInstants;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes a log line for each event that listeners receive. */
public final class LifecycleLog {
    private static final Logger log = LoggerFactory.getLogger(LifecycleLog.class);

    private LifecycleLog() {}

    public static void planned(TickPlan plan) {
        if (log.isDebugEnabled() && !plan.ticks().isEmpty())
            log.debug(
                    "ticks planned schedule={} project={} ticks={} from={}",
                    plan.schedule().name(),
                    plan.schedule().definition().project(),
                    plan.ticks().size(),
                    plan.ticks().get(0).plannedAt());
    }

    static void started(Attempt attempt, Duration waited) {
        if (log.isDebugEnabled())
            log.debug(
                    "attempt started run={} queue={} handler={} attempt={} late_ms={}",
                    attempt.run(),
                    attempt.lane().queue(),
                    attempt.target().name(),
                    attempt.number(),
                    waited.toMillis());
    }

    static void ended(Attempt attempt, Transition transition) {
        if (transition instanceof Transition.MarkDead markDead)
            log.warn(
                    "run dead run={} queue={} handler={} attempt={} error={}",
                    attempt.run(),
                    attempt.lane().queue(),
                    attempt.target().name(),
                    attempt.number(),
                    ControlCharacters.escape(ErrorText.firstLine(markDead.error())));
        else
            log.debug(
                    "attempt ended run={} attempt={} next={}",
                    attempt.run(),
                    attempt.number(),
                    transition.getClass().getSimpleName());
    }

    /** Writes the line of an event, except that of planned ticks, see {@link #planned}. */
    static void write(ScheduleEvent event) {
        if (event instanceof ScheduleEvent.Planned) return;
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
                    ControlCharacters.escape(paused.by()),
                    paused.until(),
                    ControlCharacters.escape(paused.reason()));
        else if (event instanceof ScheduleEvent.Resumed)
            log.info("schedule resumed schedule={} project={}", schedule, project);
        else if (event instanceof ScheduleEvent.Deleted)
            log.info("schedule deleted schedule={} project={}", schedule, project);
        else if (event instanceof ScheduleEvent.Missed missed) {
            AffectedInstants all = missed.instants();
            log.warn(
                    "instants missed schedule={} project={} count={} from={} to={} reason={}",
                    schedule,
                    project,
                    all.count(),
                    all.from(),
                    all.to(),
                    ControlCharacters.escape(all.reason()));
        } else if (event instanceof ScheduleEvent.Skipped skipped) {
            AffectedInstants all = skipped.instants();
            log.info(
                    "instants skipped schedule={} project={} count={} from={} to={} reason={}",
                    schedule,
                    project,
                    all.count(),
                    all.from(),
                    all.to(),
                    ControlCharacters.escape(all.reason()));
        } else throw new AssertionError("no log line for " + event.getClass().getSimpleName());
    }
}
