package io.carillon.postgres;

/** Keeps the word given to whoever cancelled a running run: should the run be let go instead of ended, it ends here. */
final class CancelOrders {
    // From the orders, which are few, to their runs; a statement of its own, so that it sees every order given before
    // the
    // run was let go.
    private static final String END_LET_GO = """
            WITH gone AS (
              DELETE FROM carillon.run r
               WHERE (r.owner IS NULL OR r.parked = 'awaiting') AND r.ctid = any(array(
                 SELECT mine.ctid FROM carillon.cancel_request c,
                        LATERAL (SELECT w.ctid FROM carillon.run w
                                  WHERE w.project = c.project AND w.id BETWEEN c.run_id AND c.run_id
                                    AND (w.owner IS NULL OR w.parked = 'awaiting') -- no node holds it that could be told
                                  ORDER BY w.id LIMIT 1) mine))
              RETURNING r.*)
            INSERT INTO carillon.run_history
              (project, id, day, queue, class, suspect, crashes, attempt, failures, due_at, planned_at, started_at, ended_at, created_at,
               schedule_id, parent_id, owner, state, origin, target, target_name, key, reason, trace)
            SELECT g.project, g.id, g.day, g.queue, g.class, g.suspect, g.crashes, g.attempt, g.failures, g.due_at, g.planned_at, NULL,
                   carillon.clock(), g.created_at, g.schedule_id, g.parent_id, NULL, 'cancelled', g.origin, g.target, g.target_name, g.key, c.reason,
                   g.trace
              FROM gone g JOIN carillon.cancel_request c ON c.project = g.project AND c.run_id = g.id
            RETURNING id
            """;

    private final Database database;
    private final Partitions partitions;

    CancelOrders(Database database, Partitions partitions) {
        this.database = database;
        this.partitions = partitions;
    }

    /** To be called whenever runs were let go; returns how many it ended. */
    int settle() {
        return partitions.completing(() -> database.single(
                        session -> session.query(END_LET_GO).list(row -> row.uuid("id")))
                .size());
    }
}
