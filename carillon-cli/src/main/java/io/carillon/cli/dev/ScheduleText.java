package io.carillon.cli.dev;

import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;

/** Formats a schedule for people. */
final class ScheduleText {
    private ScheduleText() {}

    static LiveSnapshot.ScheduleRow row(Schedule schedule, Instant now) {
        When when = schedule.definition().when();
        Duration next = schedule.isPaused()
                ? null
                : when.next(now).map(at -> Duration.between(now, at)).orElse(null);
        return new LiveSnapshot.ScheduleRow(schedule.name(), describe(when), next, schedule.isPaused());
    }

    /** Describes the timing, without the zone if it is UTC. */
    static String describe(When when) {
        if (when.timing() instanceof When.Timing.Cron cron && cron.zone().equals(ZoneId.of("UTC")))
            return cron.expression().describe();
        return when.describe();
    }
}
