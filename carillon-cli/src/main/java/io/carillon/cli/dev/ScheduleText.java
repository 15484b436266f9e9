package io.carillon.cli.dev;

import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;

/** A schedule as a row for people. */
final class ScheduleText {
    private ScheduleText() {}

    static Picture.Row row(Schedule schedule, Instant now) {
        When when = schedule.definition().when();
        Duration next = schedule.paused()
                ? null
                : when.next(now).map(at -> Duration.between(now, at)).orElse(null);
        return new Picture.Row(schedule.name(), english(when), next, schedule.paused());
    }

    /** The zone is worth a word only where it is not UTC. */
    static String english(When when) {
        if (when.timing() instanceof When.Timing.Cron cron && cron.zone().equals(ZoneId.of("UTC")))
            return cron.expression().describe();
        return when.describe();
    }
}
