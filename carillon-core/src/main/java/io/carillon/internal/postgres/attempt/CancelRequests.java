package io.carillon.internal.postgres.attempt;

import io.carillon.Stats.RunStats.Count;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.postgres.partition.MaintenanceRepository;
import io.carillon.internal.postgres.partition.Partitions;
import io.carillon.internal.postgres.sql.HistoryInsert;
import io.carillon.internal.postgres.stats.EndedRows;
import io.carillon.internal.value.ControlCharacters;
import io.carillon.run.RunId;
import java.util.List;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The cancel requests of running runs. The node of a run stops it; if the node releases the run instead of ending it,
 * the run ends here.
 */
public final class CancelRequests {
    private static final Logger log = LoggerFactory.getLogger(CancelRequests.class);

    // A separate statement, so that it sees every request that was made before the run was released. A run that another
    // transaction has locked is skipped; its request stays for the next call.
    private static final String END_RELEASED = """
            WITH requests AS MATERIALIZED (SELECT project, run_id, reason FROM carillon.cancel_request
              WHERE :allRequests::boolean OR run_id = ANY (:runIds::uuid[])),
            keys AS (SELECT array_agg(project ORDER BY run_id) AS projects, array_agg(run_id ORDER BY run_id) AS ids
              FROM requests HAVING count(*) > 0),
            deleted AS MATERIALIZED (/* DELETE FROM carillon.run, UPDATE carillon.run */ SELECT run.*
              FROM keys, LATERAL carillon.end_waiting_runs(keys.projects, keys.ids, false) run)
            """
            + HistoryInsert.of("deleted", "'cancelled'")
                    .with("reason", "requests.reason")
                    .from("deleted JOIN requests ON requests.project = deleted.project"
                            + " AND requests.run_id = deleted.id RETURNING " + EndedRows.COLUMNS);

    private static final String REQUESTED_RUNS = "SELECT run_id FROM carillon.cancel_request ORDER BY run_id";

    /** Up to this number, requests cost the heartbeats little, and the periodic purge suffices. */
    private static final int PURGE_THRESHOLD = 500;

    private static final String COUNT_REQUESTS =
            "SELECT count(*) AS requests FROM (SELECT 1 FROM carillon.cancel_request LIMIT :most) counted";

    private static final int CHUNK = 1_000;
    private static final int MAX_CHUNKS = 100;

    private final Database database;
    private final Partitions partitions;
    private final EndedRows endedRows;

    public CancelRequests(Database database, Partitions partitions, EndedRows endedRows) {
        this.database = database;
        this.partitions = partitions;
        this.endedRows = endedRows;
    }

    /**
     * Ends released runs that have a cancel request, and returns their number. To be called whenever runs were
     * released. A run whose ending PostgreSQL rejects affects no other run.
     */
    public int endReleasedRuns() {
        try {
            return endReleasedRuns(true, List.of());
        } catch (StorageException failure) {
            if (!failure.isRowError()) throw failure;
            return endInHalves(
                    database.single(session -> session.query(REQUESTED_RUNS).list(row -> row.uuid("run_id"))), failure);
        }
    }

    /** Ends the runs in two halves, because PostgreSQL rejected them as a whole. */
    private int endInHalves(List<UUID> runs, StorageException refused) {
        if (runs.isEmpty()) return 0;
        if (runs.size() == 1) {
            log.error(
                    "cancelled run cannot be ended run={} error={}",
                    new RunId(runs.get(0)),
                    ControlCharacters.escape(refused.getMessage()));
            return 0;
        }
        int half = runs.size() / 2;
        int ended = 0;
        for (List<UUID> part : List.of(runs.subList(0, half), runs.subList(half, runs.size()))) {
            try {
                ended += endReleasedRuns(false, part);
            } catch (StorageException failure) {
                if (!failure.isRowError()) throw failure;
                ended += endInHalves(part, failure);
            }
        }
        return ended;
    }

    private int endReleasedRuns(boolean all, List<UUID> runs) {
        return partitions.creatingMissing(() -> database.single(session -> endedRows.count(
                session, session.query(END_RELEASED).flag("allRequests", all).uuids("runIds", runs), Count.CANCELLED)));
    }

    /**
     * Removes requests whose run has ended, if there are many, because {@link #endReleasedRuns()} reads all requests.
     */
    public void purgeEnded() {
        long requests = database.single(session -> session.query(COUNT_REQUESTS)
                        .number("most", PURGE_THRESHOLD + 1)
                        .first(row -> row.number("requests")))
                .orElse(0L);
        if (requests <= PURGE_THRESHOLD) return;
        for (int chunk = 0; chunk < MAX_CHUNKS; chunk++)
            if (database.single(session -> session.query(MaintenanceRepository.PURGE_CANCEL_REQUESTS)
                            .number("chunk", CHUNK)
                            .update())
                    < CHUNK) return;
    }
}
