package io.carillon.internal.postgres.schedule;

import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.schedule.UnstartedTicks.LedgerReason;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleId;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Pauses schedules: several of them with a few statements, in a transaction of the caller. */
final class SchedulePauses {
    static final int MAX_NAMES = 500;

    private static final String LOCK_ALL = "SELECT " + ScheduleRows.COLUMNS + """
             FROM carillon.schedule s WHERE s.project = :project AND s.name = ANY (:names::text[])
            ORDER BY s.id FOR UPDATE OF s
            """;

    private static final String PAUSE = """
            UPDATE carillon.schedule
               SET version = version + 1, paused_at = carillon.clock(), paused_by = :by, paused_reason = :reason,
                   paused_until = :until,
                   updated_at = carillon.clock()
             WHERE project = :project AND name = ANY (:names::text[])
            """;

    private SchedulePauses() {}

    /** Records the pause in locked schedules. */
    static void write(Session session, String project, List<String> names, Schedule.Pause pause) throws SQLException {
        session.query(PAUSE)
                .text("project", project)
                .texts("names", names)
                .text("by", pause.by())
                .text("reason", pause.reason())
                .instant("until", pause.until())
                .update();
    }

    /** Pauses the active ones of these schedules, at most {@link #MAX_NAMES}; returns their names. */
    static List<String> pause(
            Session session, UnstartedTicks unstartedTicks, String project, List<String> names, Schedule.Pause pause)
            throws SQLException {
        List<Schedule> active =
                session
                        .query(LOCK_ALL)
                        .text("project", project)
                        .texts("names", names)
                        .list(ScheduleRows::readOrMark)
                        .stream()
                        .filter(schedule -> !schedule.isPaused())
                        .toList();
        if (active.isEmpty()) return List.of();
        Map<ScheduleId, Instant> cutoffs = unstartedTicks.cutoffs(session, active);
        unstartedTicks.recordGaps(session, active, cutoffs, LedgerReason.PAUSED);
        unstartedTicks.deleteAfter(session, active, cutoffs);
        unstartedTicks.endUnstarted(session, active, LedgerReason.PAUSED);
        List<String> paused = active.stream().map(Schedule::name).toList();
        write(session, project, paused, pause);
        return paused;
    }
}
