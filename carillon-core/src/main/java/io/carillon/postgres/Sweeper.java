package io.carillon.postgres;

import io.carillon.run.RunId;
import io.carillon.store.Swept;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Lets go what dead nodes held and what outlived its own lease. A dead node is swept twice, at once and a minute later: a claim it had sent may commit
 * after its death was written.
 */
final class Sweeper {
    private static final int GROUP = 1_000;

    private static final String UNSWEPT = """
            SELECT id FROM carillon.node
             WHERE dead_at IS NOT NULL
               AND (swept_at IS NULL
                    OR (swept_at < dead_at + interval '1 minute' AND carillon.clock() >= dead_at + interval '1 minute'))
            """;

    // No index knows the owner, or the claim would have to write it. A death is rare enough for a look at every row, if
    // one node looks for all; it locks nothing else, so that it may take its time.
    private static final String TRY_LOCK =
            "SELECT pg_try_advisory_xact_lock(hashtextextended('carillon.sweep', 0)) AS mine";

    private static final String HELD_BY_DEAD =
            "SELECT project, id, attempt, owner, parked FROM carillon.run WHERE owner = ANY (:dead::uuid[])";

    private static final String EXPIRED = """
            SELECT project, id, attempt, owner, parked FROM carillon.run
             WHERE leased_until IS NOT NULL AND leased_until < carillon.clock() AND parked IS DISTINCT FROM 'awaiting'
             ORDER BY leased_until LIMIT 10000
            """;

    // The same attempt is still held; a lease of its own must be over. Reached like all fenced rows.
    private static final String STILL_LOST = """
            WITH lost AS MATERIALIZED (
              SELECT r.*, e.alone
                FROM unnest(:projects::text[], :ids::uuid[], :attempts::int[], :owners::uuid[], :alones::bool[]) AS e(project, id, attempt, owner, alone),
                     LATERAL (SELECT ctid AS place, * FROM carillon.run
                               WHERE project = e.project AND id BETWEEN e.id AND e.id AND attempt = e.attempt AND owner = e.owner
                                 AND (leased_until IS NULL OR leased_until < carillon.clock())
                               ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) r)
            """;

    // A suspect that runs alone when its node dies has crashed it; one crash too many, and it is quarantined with its
    // payload.
    private static final String QUARANTINE = STILL_LOST + """
            , gone AS (
              DELETE FROM carillon.run r USING lost
               WHERE r.ctid = lost.place AND r.parked = 'suspect' AND lost.alone AND r.crashes + 1 >= :limit
              RETURNING r.*),
            kept AS (
              INSERT INTO carillon.dead_run
                (project, id, state, queue, class, attempt, failures, crashes, owner, due_at, planned_at, schedule_id, origin, target, target_name,
                 codec, payload, key, gate_key, gate_max, trace, policy, error, died_at)
              SELECT project, id, 'quarantined', queue, class, attempt, failures, crashes + 1, owner, due_at, planned_at, schedule_id, origin, target,
                     target_name, codec, payload, key, gate_key, gate_max, trace, policy, 'its node died ' || crashes + 1 || ' times while it ran alone',
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

    // A node that has no handler for a run cannot have died of it: it was about to pass the run on, and that is done
    // here.
    private static final String RELEASE = STILL_LOST + """
            , released AS (
              UPDATE carillon.run r
                 SET owner = NULL, leased_until = NULL, started_at = NULL, ready_at = 'infinity',
                     start_by = CASE WHEN tried.yes THEN 'infinity' ELSE r.start_by END,
                     parked = CASE WHEN tried.yes THEN 'suspect' ELSE 'no-handler' END,
                     limited_by = CASE WHEN tried.yes THEN r.limited_by END, -- a run without a handler holds no place under a limit
                     crashes = r.crashes + CASE WHEN r.parked = 'suspect' AND lost.alone THEN 1 ELSE 0 END, suspect = least(r.suspect + CASE WHEN tried.yes THEN 1 ELSE 0 END, 100)
                FROM lost, LATERAL (SELECT NOT EXISTS (SELECT 1 FROM carillon.node n
                                                        WHERE n.id = lost.owner AND lost.target_name <> ALL (n.handlers)) AS yes) tried
               WHERE r.ctid = lost.place)
            INSERT INTO carillon.attempt (project, run_id, attempt, day, owner, started_at, ended_at, outcome, error)
            SELECT project, id, attempt, day, owner, started_at, carillon.clock(), 'crashed', 'lease lost: its node died or its lease ran out'
              FROM lost RETURNING run_id AS id
            """;

    private static final String SWEPT =
            "UPDATE carillon.node SET swept_at = carillon.clock() WHERE id = ANY (:dead::uuid[])";

    private final Database database;
    private final Database patient;
    private final Partitions partitions;
    private final CancelOrders cancels;
    private final Endings endings;

    Sweeper(Database database, Database patient, Partitions partitions, CancelOrders cancels, Endings endings) {
        this.endings = endings;
        this.database = database;
        this.patient = patient;
        this.partitions = partitions;
        this.cancels = cancels;
    }

    /** {@code proven}: it ran for so long that nobody suspects it of having just killed its node. */
    private record Lost(String project, RunId run, int attempt, UUID owner, boolean proven) {
        static Lost read(Row row) throws SQLException {
            return new Lost(
                    row.text("project"),
                    AttemptRows.runId(row, "id"),
                    row.integer("attempt"),
                    row.uuid("owner"),
                    "running".equals(row.maybeText("parked")));
        }
    }

    Swept sweep(int crashLimit) {
        endings.giveUp();
        List<UUID> dead = database.single(session -> session.query(UNSWEPT).list(row -> row.uuid("id")));
        Optional<List<Lost>> held = dead.isEmpty() ? Optional.empty() : heldBy(dead);
        List<Lost> lost = new ArrayList<>(
                database.single(session -> session.query(EXPIRED).list(Lost::read)));
        held.ifPresent(lost::addAll);
        lost.sort(Comparator.comparing(Lost::run));
        // Who was in company when its node died is not accused: any of them may have done it.
        Map<UUID, Long> unproven = lost.stream()
                .filter(one -> !one.proven())
                .collect(Collectors.groupingBy(Lost::owner, Collectors.counting()));
        Predicate<Lost> alone = one -> unproven.getOrDefault(one.owner(), 0L) == 1;
        int quarantined = 0;
        int released = 0;
        for (int from = 0; from < lost.size(); from += GROUP) {
            List<Lost> group = lost.subList(from, Math.min(lost.size(), from + GROUP));
            quarantined += writing(session ->
                    count(rows(session.query(QUARANTINE), group, alone).number("limit", crashLimit)));
            released += writing(session -> count(rows(session.query(RELEASE), group, alone)));
        }
        if (released > 0) cancels.settle();
        // What somebody else had locked may still be held: then the next sweep decides.
        if (held.isEmpty() || quarantined + released < lost.size()) return new Swept(0, released, quarantined);
        database.single(session -> session.query(SWEPT).uuids("dead", dead).update());
        return new Swept(dead.size(), released, quarantined);
    }

    /** What the dead hold; empty: another node is looking already. */
    private Optional<List<Lost>> heldBy(List<UUID> dead) {
        return patient.transaction(session -> {
            boolean mine =
                    session.query(TRY_LOCK).first(row -> row.flag("mine")).orElse(false);
            if (!mine) return Optional.empty();
            return Optional.of(session.query(HELD_BY_DEAD).uuids("dead", dead).list(Lost::read));
        });
    }

    private int writing(Database.Work<Integer> work) {
        return partitions.completing(() -> database.single(work));
    }

    private static Query rows(Query query, List<Lost> group, Predicate<Lost> alone) throws SQLException {
        return query.column("projects", "text", group, Lost::project)
                .column("ids", "uuid", group, lost -> lost.run().value())
                .column("attempts", "int4", group, Lost::attempt)
                .column("owners", "uuid", group, Lost::owner)
                .column("alones", "bool", group, alone::test);
    }

    private static int count(Query query) throws SQLException {
        return query.list(row -> row.uuid("id")).size();
    }
}
