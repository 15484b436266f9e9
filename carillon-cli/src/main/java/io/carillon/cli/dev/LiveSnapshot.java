package io.carillon.cli.dev;

import io.carillon.cli.shell.DurationText;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The content of one frame of the live view. Drawing it needs no clock and no database. */
record LiveSnapshot(
        Header header,
        Duration uptime,
        List<ScheduleRow> schedules,
        List<RunActivity.ActiveRun> running,
        List<ActivityEvent> recentEvents,
        RunActivity.Totals totals,
        Condition condition) {

    /**
     * The values that do not change while the node runs.
     *
     * @param dashboard how to open the dashboard; null if there is none
     * @param tries commands to try in a second terminal
     */
    record Header(
            String version,
            String database,
            String data,
            String log,
            StartupBanner.@Nullable Dashboard dashboard,
            List<String> tries) {
        Header(String version, String database, String data, String log) {
            this(version, database, data, log, null, List.of());
        }

        /**
         * Returns a header that includes the REST address and the dashboard, for the live view, which hides the startup
         * banner.
         */
        Header with(StartupBanner.RestInfo restInfo) {
            List<String> tries = restInfo.examples().stream()
                    .filter(example -> !example.startsWith("curl "))
                    .toList();
            return new Header(
                    version, database + ", REST on " + restInfo.url(), data, log, restInfo.dashboard(), tries);
        }
    }

    /**
     * A schedule: its timing in English and the time until its next run.
     *
     * @param next null if the schedule is paused or has no further run
     */
    record ScheduleRow(
            String name, String description, @Nullable Duration next, boolean paused) {}

    /**
     * The state of the node.
     *
     * @param issues the problems found by the health check; empty if there are none
     * @param warning the last warning in the log; empty if there is none
     */
    record Condition(String nodes, List<String> issues, String warning) {
        private static final Duration STALE_AFTER = Duration.ofSeconds(4);

        boolean isHealthy() {
            return issues.isEmpty();
        }

        /**
         * Returns this condition, or one with an issue if the last poll is too old: a poll of a hanging database does
         * not return.
         */
        Condition checkedFor(Duration sinceLastPoll) {
            if (sinceLastPoll.compareTo(STALE_AFTER) < 0) return this;
            return new Condition(
                    nodes,
                    List.of("the database has not answered for " + DurationText.countdown(sinceLastPoll)),
                    warning);
        }
    }
}
