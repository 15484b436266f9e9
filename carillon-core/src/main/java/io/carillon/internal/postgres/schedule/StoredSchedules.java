package io.carillon.internal.postgres.schedule;

import io.carillon.internal.jdbc.Database;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleDefinition;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The stored schedules that have one of several names, and the time at which they were read. */
record StoredSchedules(Map<String, Schedule> byName, Instant now) {
    // Always returns a row: the clock, with the schedules that have one of the names.
    private static final String GET_ALL = "SELECT c.now, " + ScheduleRows.COLUMNS + """
              FROM (SELECT carillon.clock() AS now) c
              LEFT JOIN carillon.schedule s ON s.project = :project AND s.name = ANY (:names::text[])
            """;

    private static final String DECLARED = """
            SELECT name FROM carillon.schedule
             WHERE project = :project AND owner = 'code' AND target = 'handler'
               AND target_name = ANY (:handlers::text[])
             ORDER BY name
            """;

    /** Returns the names of the schedules that an application declared for one of these handlers. */
    static List<String> declared(Database database, String project, Collection<String> handlers) {
        return database.single(session -> session.query(DECLARED)
                .text("project", project)
                .texts("handlers", handlers)
                .list(row -> row.text("name")));
    }

    /** Reads the schedules with the names of these definitions, which are of one project. */
    static StoredSchedules read(Database database, List<ScheduleDefinition> definitions) {
        Map<String, Schedule> byName = new HashMap<>();
        List<String> names = definitions.stream().map(ScheduleDefinition::name).toList();
        Instant now = database.single(session -> session.query(GET_ALL)
                        .text("project", definitions.get(0).project())
                        .texts("names", names)
                        .list(row -> {
                            if (row.maybeUuid("id") != null) byName.put(row.text("name"), ScheduleRows.readOrMark(row));
                            return row.instant("now");
                        }))
                .get(0);
        return new StoredSchedules(byName, now);
    }
}
