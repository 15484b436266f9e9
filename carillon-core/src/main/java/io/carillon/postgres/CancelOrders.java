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

    /** So many requests cost the heartbeats little: until there are more, those whose run has ended are left to the housekeeper. */
    private static final int MANY = 500;

    private static final String COUNT =
            "SELECT count(*) AS requests FROM (SELECT 1 FROM carillon.cancel_request LIMIT :most) counted";

    private static final int CHUNK = 1_000;
    private static final int MOST_CHUNKS = 100;

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

    /** Removes requests whose run has ended, if there are many: whoever asks for requests reads them all. */
    void forgetEnded() {
        long requests = database.single(
                        session -> session.query(COUNT).number("most", MANY + 1).first(row -> row.number("requests")))
                .orElse(0L);
        if (requests <= MANY) return;
        for (int chunk = 0; chunk < MOST_CHUNKS; chunk++)
            if (database.single(session -> session.query(HousekeepingRepository.PURGE_CANCELS)
                            .number("chunk", CHUNK)
                            .update())
                    < CHUNK) return;
    }
}
