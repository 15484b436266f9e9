package io.carillon.postgres;

import io.carillon.store.Swept;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;

/**
 * Lets go what dead nodes held and what outlived its own lease. A dead node is swept twice, at once and a minute later: a claim it had sent may commit
 * after its death was written.
 */
final class Sweeper {
    private static final String UNSWEPT = """
            SELECT id FROM carillon.node
             WHERE dead_at IS NOT NULL
               AND (swept_at IS NULL
                    OR (swept_at < dead_at + interval '1 minute' AND carillon.clock() >= dead_at + interval '1 minute'))
            """;

    private static final String EXPIRED = """
            SELECT coalesce((SELECT leased_until FROM carillon.run WHERE leased_until IS NOT NULL
                              ORDER BY leased_until LIMIT 1) < carillon.clock(), false) AS there
            """;

    // Held by the dead, or leased for a time that is over.
    private static final String LOST = """
            (r.owner = ANY (:dead::uuid[]) OR r.leased_until < carillon.clock())
            """;

    // What runs alone when its node dies has crashed it; one crash too many, and it is quarantined with its payload.
    private static final String QUARANTINE = """
            WITH gone AS (
              DELETE FROM carillon.run r
               WHERE r.parked = 'suspect' AND r.owner IS NOT NULL AND r.crashes + 1 >= :limit AND\s""" + LOST + """
              RETURNING r.*),
            kept AS (
              INSERT INTO carillon.dead_run
                (project, id, state, queue, class, attempt, failures, crashes, owner, due_at, planned_at, schedule_id, origin, target, target_name,
                 codec, payload, key, gate_key, trace, policy, error, died_at)
              SELECT project, id, 'quarantined', queue, class, attempt, failures, crashes + 1, owner, due_at, planned_at, schedule_id, origin, target,
                     target_name, codec, payload, key, gate_key, trace, policy, 'its node died ' || crashes + 1 || ' times while it ran alone',
                     carillon.clock()
                FROM gone)
            INSERT INTO carillon.run_history
              (project, id, day, queue, class, suspect, crashes, attempt, failures, due_at, planned_at, started_at, ended_at, created_at,
               schedule_id, parent_id, owner, state, origin, target, target_name, key, reason, trace)
            SELECT project, id, day, queue, class, suspect, crashes + 1, attempt, failures, due_at, planned_at, started_at, carillon.clock(), created_at,
                   schedule_id, parent_id, owner, 'quarantined', origin, target, target_name, key,
                   'its node died ' || crashes + 1 || ' times while it ran alone', trace
              FROM gone RETURNING id
            """;

    // By ready_at: what is in flight is due or parked. Two hours more, because the clock may have been set back since
    // the claim.
    private static final String RELEASE = """
            WITH lost AS (
              SELECT r.project, r.id, r.owner, r.attempt, r.started_at, r.day FROM carillon.run r
               WHERE (r.ready_at <= carillon.clock() + interval '2 hours' OR r.ready_at = 'infinity') AND r.owner IS NOT NULL AND\s""" + LOST + """
               FOR UPDATE SKIP LOCKED),
            released AS (
              UPDATE carillon.run r
                 SET owner = NULL, leased_until = NULL, started_at = NULL, start_by = 'infinity', parked = 'suspect', ready_at = 'infinity',
                     crashes = r.crashes + CASE WHEN r.parked = 'suspect' THEN 1 ELSE 0 END, suspect = least(r.suspect + 1, 100)
                FROM lost WHERE r.project = lost.project AND r.id = lost.id
              RETURNING r.id)
            INSERT INTO carillon.attempt (project, run_id, attempt, day, owner, started_at, ended_at, outcome, error)
            SELECT project, id, attempt, day, owner, started_at, carillon.clock(), 'crashed', 'lease lost: its node died or its lease ran out'
              FROM lost WHERE id IN (SELECT id FROM released)
            ON CONFLICT DO NOTHING
            RETURNING run_id AS id
            """;

    private static final String SWEPT =
            "UPDATE carillon.node SET swept_at = carillon.clock() WHERE id = ANY (:dead::uuid[])";

    private static final String RUNS_OF = "SELECT r.id FROM carillon.run r WHERE r.owner IS NOT NULL AND " + LOST;

    private final Database database;
    private final Partitions partitions;

    Sweeper(Database database, Partitions partitions) {
        this.database = database;
        this.partitions = partitions;
    }

    Swept sweep(int crashLimit) {
        List<UUID> dead = database.single(session -> session.query(UNSWEPT).list(row -> row.uuid("id")));
        if (dead.isEmpty() && !anyExpired()) return new Swept(0, 0, 0);
        try {
            return release(dead, crashLimit);
        } catch (StorageException failure) {
            if (!failure.partitionMissing()) throw failure;
            partitions.createForRuns(database.single(
                    session -> session.query(RUNS_OF).uuids("dead", dead).list(row -> row.uuid("id"))));
            return release(dead, crashLimit);
        }
    }

    private boolean anyExpired() {
        return database.single(session ->
                session.query(EXPIRED).first(row -> row.flag("there")).orElse(false));
    }

    private Swept release(List<UUID> dead, int crashLimit) {
        return database.transaction(session -> {
            int quarantined =
                    count(session.query(QUARANTINE).uuids("dead", dead).number("limit", crashLimit));
            int released = count(session.query(RELEASE).uuids("dead", dead));
            session.query(SWEPT).uuids("dead", dead).update();
            return new Swept(dead.size(), released, quarantined);
        });
    }

    private static int count(Query query) throws SQLException {
        return query.list(row -> row.uuid("id")).size();
    }
}
