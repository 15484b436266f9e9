package io.carillon.postgres;

import io.carillon.postgres.sql.HistoryRows;

/** Keeps the word given to whoever cancelled a running run: should the run be let go instead of ended, it ends here. */
final class CancelOrders {
    // A statement of its own, so that it sees every order given before the run was let go. A run that another
    // transaction has locked is passed over: the order stays for the next call.
    private static final String END_LET_GO = """
            WITH c AS MATERIALIZED (SELECT project, run_id, reason FROM carillon.cancel_request),
            asked AS (SELECT array_agg(project ORDER BY run_id) AS projects, array_agg(run_id ORDER BY run_id) AS ids FROM c HAVING count(*) > 0),
            gone AS MATERIALIZED (/* DELETE FROM carillon.run */ SELECT run.* FROM asked, LATERAL carillon.end_waiting(asked.projects, asked.ids, false) run)
            """
            + HistoryRows.of("gone", "'cancelled'")
                    .with("reason", "c.reason")
                    .from("gone JOIN c ON c.project = gone.project AND c.run_id = gone.id RETURNING id");

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
