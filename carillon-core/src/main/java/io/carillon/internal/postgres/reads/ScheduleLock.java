package io.carillon.internal.postgres.reads;

import io.carillon.internal.jdbc.Session;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/** Locks a schedule before the server decides whether the caller may change it. */
public final class ScheduleLock {
    private static final String LOCK =
            "SELECT 1 FROM carillon.schedule WHERE project = :project AND name = :name FOR UPDATE";

    private static final String FIND = """
            SELECT name, queue, target_name FROM carillon.schedule
             WHERE project = :project AND name = ANY (:names::text[]) ORDER BY name
            """;

    private static final String LOCK_ALL = FIND + " FOR UPDATE";

    private ScheduleLock() {}

    /** The queue and the target of the runs of a stored schedule. */
    public record Existing(String queue, String target) {}

    /** Returns those of these schedules that exist, by name. If {@code lock}, locks them until the transaction ends. */
    public static Map<String, Existing> find(Session session, String project, Collection<String> names, boolean lock)
            throws SQLException {
        Map<String, Existing> found = new HashMap<>();
        session.query(lock ? LOCK_ALL : FIND)
                .text("project", project)
                .texts("names", names)
                .list(row -> found.put(row.text("name"), new Existing(row.text("queue"), row.text("target_name"))));
        return found;
    }

    /** Locks a schedule until the transaction ends. Returns false if there is no schedule with this name. */
    public static boolean lock(Session session, String project, String name) throws SQLException {
        return session.query(LOCK)
                .text("project", project)
                .text("name", name)
                .first(row -> true)
                .orElse(false);
    }
}
