package io.carillon.postgres;

import io.carillon.postgres.sql.HistoryRows;
import io.carillon.run.RunId;
import java.util.List;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps the word given to whoever cancelled a running run: should the run be let go instead of ended, it ends here. */
final class CancelOrders {
    private static final Logger log = LoggerFactory.getLogger(CancelOrders.class);

    // A statement of its own, so that it sees every order given before the run was let go. A run that another
    // transaction has locked is passed over: the order stays for the next call.
    private static final String END_LET_GO = """
            WITH c AS MATERIALIZED (SELECT project, run_id, reason FROM carillon.cancel_request WHERE :all::boolean OR run_id = ANY (:some::uuid[])),
            asked AS (SELECT array_agg(project ORDER BY run_id) AS projects, array_agg(run_id ORDER BY run_id) AS ids FROM c HAVING count(*) > 0),
            gone AS MATERIALIZED (/* DELETE FROM carillon.run */ SELECT run.* FROM asked, LATERAL carillon.end_waiting(asked.projects, asked.ids, false) run)
            """
            + HistoryRows.of("gone", "'cancelled'")
                    .with("reason", "c.reason")
                    .from("gone JOIN c ON c.project = gone.project AND c.run_id = gone.id RETURNING id");

    private static final String ASKED = "SELECT run_id FROM carillon.cancel_request ORDER BY run_id";

    /** So many requests cost the heartbeats little: up to this number, the periodic purge removes those whose run has ended. */
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

    /** To be called whenever runs were let go; returns how many it ended. A run whose end the database refuses costs only itself. */
    int settle() {
        try {
            return settle(true, List.of());
        } catch (StorageException failure) {
            if (!failure.rowAtFault()) throw failure;
            return splitting(database.single(session -> session.query(ASKED).list(row -> row.uuid("run_id"))), failure);
        }
    }

    /** Ends these in two halves, since as a whole they were refused. */
    private int splitting(List<UUID> asked, StorageException refused) {
        if (asked.isEmpty()) return 0;
        if (asked.size() == 1) {
            log.error("cancelled run cannot be ended run={} error={}", new RunId(asked.get(0)), refused.getMessage());
            return 0;
        }
        int half = asked.size() / 2;
        int ended = 0;
        for (List<UUID> part : List.of(asked.subList(0, half), asked.subList(half, asked.size()))) {
            try {
                ended += settle(false, part);
            } catch (StorageException failure) {
                if (!failure.rowAtFault()) throw failure;
                ended += splitting(part, failure);
            }
        }
        return ended;
    }

    private int settle(boolean all, List<UUID> some) {
        return partitions.completing(() -> database.single(session -> session.query(END_LET_GO)
                        .flag("all", all)
                        .uuids("some", some)
                        .list(row -> row.uuid("id")))
                .size());
    }

    /** Removes requests whose run has ended, if there are many: ending cancelled runs reads all requests. */
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
