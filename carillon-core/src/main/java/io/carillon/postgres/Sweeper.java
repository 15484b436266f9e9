package io.carillon.postgres;

import io.carillon.postgres.sql.HistoryRows;
import io.carillon.run.RunId;
import io.carillon.store.Suspicion;
import io.carillon.store.Swept;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases the runs of dead nodes and runs whose own lease is over. A dead node is swept twice, at once and a minute later: a claim it had sent may commit
 * after its death was written.
 */
final class Sweeper {
    private static final Logger log = LoggerFactory.getLogger(Sweeper.class);
    private static final int GROUP = 1_000;

    private static final String UNSWEPT = """
            SELECT id, handlers, notes, judged_at, sole_run, carillon.clock() AS read_at,
                   started_at > dead_at - interval '1 minute'
                     AND EXISTS (SELECT 1 FROM carillon.node o
                                  WHERE o.id <> n.id AND o.dead_why <> 'stopped' AND o.dead_at BETWEEN n.dead_at - interval '1 minute' AND n.dead_at
                                    AND o.started_at > o.dead_at - interval '1 minute') AS young
              FROM carillon.node n
             WHERE dead_at IS NOT NULL
               AND (swept_at IS NULL
                    OR (swept_at < dead_at + interval '1 minute' AND carillon.clock() >= dead_at + interval '1 minute'))
            """;

    // One node reads and judges for all.
    private static final String TRY_LOCK =
            "SELECT pg_try_advisory_xact_lock(hashtextextended('carillon.sweep', 0)) AS mine";

    private static final String HELD_BY_NOTES = "SELECT r.ctid, r.project, r.id, r.attempt, r.owner, r.parked"
            + AttemptRows.NOTED_RUNS + " WHERE n.node = ANY (:dead::uuid[]) AND r.id IS NOT NULL";

    // Nodes of earlier code note nothing: their runs are found by a scan.
    private static final String HELD_BY_DEAD =
            "SELECT ctid, project, id, attempt, owner, parked FROM carillon.run WHERE owner = ANY (:dead::uuid[])";

    private static final String EXPIRED = """
            SELECT ctid, project, id, attempt, owner, parked FROM carillon.run
             WHERE leased_until IS NOT NULL AND leased_until < carillon.clock() AND parked IS DISTINCT FROM 'awaiting'
             ORDER BY leased_until LIMIT 10000
            """;

    // Who was the only unproven run is decided once, from all runs the node held: after some of them are released the
    // rest would look as if they had been alone.
    private static final String JUDGE = """
            UPDATE carillon.node n SET judged_at = carillon.clock(), sole_run = e.run
              FROM unnest(:dead::uuid[], :runs::uuid[]) AS e(id, run) WHERE n.id = e.id AND n.judged_at IS NULL
            """;

    // The same attempt is still held, and a lease of its own is over. A row that moved since it was read is left to the
    // next sweep.
    private static final String STILL_LOST = """
            SELECT r.* FROM unnest(:places::tid[], :projects::text[], :ids::uuid[], :attempts::int[], :owners::uuid[])
                       AS e(place, project, id, attempt, owner),
                   LATERAL (SELECT ctid, project, id, attempt, owner, started_at, target_name, parked, suspect, crashes FROM carillon.run
                             WHERE ctid = e.place AND project = e.project AND id = e.id AND attempt = e.attempt AND owner = e.owner
                               AND (leased_until IS NULL OR leased_until < carillon.clock())
                             FOR UPDATE SKIP LOCKED) r
            """;

    private static final String REASON = "'its node died ' || gone.crashes + 1 || ' times while it ran alone'";

    // Statements below follow STILL_LOST in its transaction: the rows are locked and lie where it found them. IS TRUE
    // keeps
    // the fence from becoming a join over the whole key index.
    private static final String QUARANTINE = """
            WITH gone AS (
              DELETE FROM carillon.run r
               USING unnest(:places::tid[], :projects::text[], :ids::uuid[], :attempts::int[], :owners::uuid[]) AS e(place, project, id, attempt, owner)
               WHERE r.ctid = e.place AND ((r.project, r.id, r.attempt, r.owner) = (e.project, e.id, e.attempt, e.owner)) IS TRUE
              RETURNING r.*),
            kept AS (
            """
            + HistoryRows.Dead.of("gone", "'quarantined'", REASON)
                    .with("crashes", "gone.crashes + 1")
                    .from("gone)")
            + HistoryRows.of("gone", "'quarantined'")
                    .with("crashes", "gone.crashes + 1")
                    .with("started_at", "gone.started_at")
                    .with("owner", "gone.owner")
                    .with("reason", REASON)
                    .from("gone RETURNING id");

    // Back to the ordinary runs no index is written: ready_at is still what it was when the run was claimed.
    private static final String RELEASE = """
            WITH released AS (
              UPDATE carillon.run r
                 SET owner = NULL, leased_until = NULL, started_at = NULL, start_by = CASE WHEN e.parked = 'no-handler' THEN r.start_by ELSE 'infinity' END,
                     parked = e.parked, suspect = e.suspect, crashes = e.crashes,
                     limited_by = CASE WHEN e.parked = 'suspect' THEN r.limited_by END,
                     seq = CASE WHEN e.parked = 'no-handler' THEN carillon.seq_without_handler(r.gate_key, r.seq) ELSE r.seq END,
                     ready_at = CASE WHEN e.parked IS NOT NULL THEN 'infinity' WHEN r.ready_at = 'infinity' THEN carillon.clock() ELSE r.ready_at END
                FROM unnest(:places::tid[], :projects::text[], :ids::uuid[], :attempts::int[], :owners::uuid[], :starts::timestamptz[], :parkeds::text[],
                            :suspects::int[], :crashes::int[]) AS e(place, project, id, attempt, owner, started_at, parked, suspect, crashes)
               WHERE r.ctid = e.place AND ((r.project, r.id, r.attempt, r.owner) = (e.project, e.id, e.attempt, e.owner)) IS TRUE
              RETURNING r.project, r.id, r.attempt, r.day, r.origin, e.owner, e.started_at),
            recorded AS (
              INSERT INTO carillon.attempt (project, run_id, attempt, day, owner, started_at, ended_at, outcome, error)
              SELECT project, id, attempt,\s""" + HistoryRows.day("released") + """
                     , owner, started_at, carillon.clock(), 'crashed', 'lease lost: its node died or its lease ran out'
                FROM released
              ON CONFLICT DO NOTHING)
            SELECT id FROM released
            """;

    // Of two sweeps that end at the same time one counts the node.
    private static final String SWEPT = """
            UPDATE carillon.node SET swept_at = :at::timestamptz
             WHERE id = ANY (:dead::uuid[]) AND (swept_at IS NULL OR swept_at < :at::timestamptz)
            """;

    // Not before the second sweep has read them. It counts when that was, not when the sweep ended: what was noted
    // between the two was not read.
    private static final String FORGET_NOTES = """
            DELETE FROM carillon.claim_note
             WHERE node = ANY (ARRAY(SELECT id FROM carillon.node
                                      WHERE id = ANY (:dead::uuid[]) AND :at::timestamptz >= dead_at + interval '1 minute'))
            """;

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

    /**
     * {@code young}: it died within a minute of its start, and another did so within the last minute; {@code sole}: the only run that can have caused the death,
     * once it was judged.
     */
    private record Dead(
            UUID node,
            Set<String> handlers,
            boolean notes,
            boolean young,
            boolean judged,
            @Nullable UUID sole,
            Instant readAt) {
        static Dead read(Row row) throws SQLException {
            return new Dead(
                    row.uuid("id"),
                    Set.copyOf(row.texts("handlers")),
                    row.flag("notes"),
                    row.flag("young"),
                    row.maybeInstant("judged_at") != null,
                    row.maybeUuid("sole_run"),
                    row.instant("read_at"));
        }

        Dead judged(List<Lost> held) {
            if (judged) return this;
            List<Lost> unproven = held.stream()
                    .filter(one -> one.owner().equals(node) && !one.proven())
                    .toList();
            UUID only = unproven.size() == 1 ? unproven.get(0).run().value() : null;
            return new Dead(node, handlers, notes, young, true, only, readAt);
        }
    }

    /** A run as it was read; {@code proven}: it ran for so long that it is not suspected of having just killed its node. */
    private record Lost(String place, String project, RunId run, int attempt, UUID owner, boolean proven) {
        static Lost read(Row row) throws SQLException {
            return new Lost(
                    row.text("ctid"),
                    row.text("project"),
                    AttemptRows.runId(row, "id"),
                    row.integer("attempt"),
                    row.uuid("owner"),
                    "running".equals(row.maybeText("parked")));
        }
    }

    /** A locked run, and what becomes of it. */
    private record Release(
            Lost lost,
            @Nullable Instant startedAt,
            @Nullable String parked,
            int suspect,
            int crashes,
            boolean crashed) {}

    /** What one sweep works with: dead nodes by id, and the runs that are lost. */
    private record Found(Map<UUID, Dead> dead, List<Lost> lost) {
        static Found of(Map<UUID, Dead> dead, Collection<Lost> lost) {
            return new Found(dead, List.copyOf(new LinkedHashSet<>(lost)));
        }

        /** The only run that can have caused the death of its owner. */
        boolean alone(Lost one) {
            return one.run().value().equals(owner(one).sole());
        }

        /** A node that has no handler for a run cannot have died of it: it was about to pass the run on, and that is done here. */
        boolean tried(Lost one, String handler) {
            return owner(one).handlers().contains(handler);
        }

        private Dead owner(Lost one) {
            return java.util.Objects.requireNonNull(dead.get(one.owner()));
        }

        private boolean young(Lost one) {
            Dead owner = dead.get(one.owner());
            return owner != null && owner.young();
        }

        Release release(Lost one, Row row) throws SQLException {
            if (!dead.containsKey(one.owner())) return expired(one, row);
            boolean tried = tried(one, row.text("target_name"));
            boolean crashed = "suspect".equals(row.maybeText("parked")) && alone(one);
            int deaths = Math.min(100, row.integer("suspect") + (tried ? 1 : 0));
            String parked =
                    !tried ? "no-handler" : Suspicion.isolated(deaths, one.proven(), young(one)) ? "suspect" : null;
            return new Release(
                    one,
                    row.maybeInstant("started_at"),
                    parked,
                    deaths,
                    row.integer("crashes") + (crashed ? 1 : 0),
                    crashed);
        }

        /** A lease that ran out proves no crash: a process without heartbeats may have been stopped by its host. A suspect stays one. */
        private static Release expired(Lost one, Row row) throws SQLException {
            String parked = "suspect".equals(row.maybeText("parked")) ? "suspect" : null;
            return new Release(
                    one, row.maybeInstant("started_at"), parked, row.integer("suspect"), row.integer("crashes"), false);
        }
    }

    /** Open attempts that were awaited in vain come last: none of them holds up the runs of dead nodes. */
    Swept sweep(int crashLimit) {
        Swept swept = release(crashLimit);
        endings.giveUp();
        return swept;
    }

    /** Ends cancelled runs that a node let go and did not end, because it was interrupted. Called last, so that its failure stops nothing else. */
    void endCancelled() {
        cancels.settle();
        cancels.forgetEnded();
    }

    private Swept release(int crashLimit) {
        List<Lost> lost = new ArrayList<>(
                database.single(session -> session.query(EXPIRED).list(Lost::read)));
        Map<UUID, Dead> dead = new HashMap<>();
        heldByDead().ifPresent(held -> {
            dead.putAll(held.dead());
            lost.addAll(held.lost());
        });
        lost.sort(Comparator.comparing(Lost::run));
        Found found = Found.of(dead, lost);
        Swept swept = new Swept(0, 0, 0);
        Set<UUID> unfinished = new HashSet<>();
        for (int from = 0; from < found.lost().size(); from += GROUP) {
            List<Lost> group = found.lost().subList(from, Math.min(found.lost().size(), from + GROUP));
            swept = swept.plus(splitting(found, group, crashLimit, unfinished));
        }
        // What another session had locked may still be held: then the next sweep decides.
        List<UUID> over = dead.keySet().stream()
                .filter(Predicate.not(unfinished::contains))
                .toList();
        if (over.isEmpty()) return swept;
        Instant read = java.util.Objects.requireNonNull(dead.get(over.get(0))).readAt();
        int nodes = 0;
        for (String done : List.of(FORGET_NOTES, SWEPT))
            nodes = database.single(session ->
                    session.query(done).uuids("dead", over).instant("at", read).update());
        return swept.plus(new Swept(nodes, 0, 0));
    }

    /** What the dead nodes hold, judged; empty: there are none, or another node looks already. */
    private Optional<Found> heldByDead() {
        if (database.single(session -> session.query(UNSWEPT).list(Dead::read)).isEmpty()) return Optional.empty();
        return patient.transaction(session -> {
            boolean mine =
                    session.query(TRY_LOCK).first(row -> row.flag("mine")).orElse(false);
            if (!mine) return Optional.empty();
            List<Dead> dead = session.query(UNSWEPT).list(Dead::read);
            List<Lost> held = new ArrayList<>();
            for (boolean notes : List.of(true, false)) {
                Set<UUID> nodes = dead.stream()
                        .filter(one -> one.notes() == notes)
                        .map(Dead::node)
                        .collect(Collectors.toSet());
                if (!nodes.isEmpty())
                    held.addAll(session.query(notes ? HELD_BY_NOTES : HELD_BY_DEAD)
                            .uuids("dead", nodes)
                            .list(Lost::read));
            }
            List<Lost> lost = List.copyOf(new LinkedHashSet<>(held));
            List<Dead> judged = dead.stream().map(one -> one.judged(lost)).toList();
            session.query(JUDGE)
                    .column("dead", "uuid", judged, Dead::node)
                    .column("runs", "uuid", judged, Dead::sole)
                    .update();
            return Optional.of(Found.of(judged.stream().collect(Collectors.toMap(Dead::node, one -> one)), lost));
        });
    }

    /** Releases a group; one that fails is split in halves down to the row that is at fault. */
    private Swept splitting(Found found, List<Lost> group, int crashLimit, Set<UUID> unfinished) {
        try {
            Swept swept = partitions.completing(
                    () -> database.transaction(session -> release(session, found, group, crashLimit)));
            if (swept.released() + swept.quarantined() < group.size())
                group.forEach(one -> unfinished.add(one.owner()));
            return swept;
        } catch (StorageException failure) {
            if (!failure.rowAtFault()) throw failure;
            if (group.size() == 1) {
                unfinished.add(group.get(0).owner());
                log.error(
                        "run of a dead node cannot be released run={} error={}",
                        group.get(0).run(),
                        failure.getMessage());
                return new Swept(0, 0, 0);
            }
            int half = group.size() / 2;
            return splitting(found, group.subList(0, half), crashLimit, unfinished)
                    .plus(splitting(found, group.subList(half, group.size()), crashLimit, unfinished));
        }
    }

    private static Swept release(Session session, Found found, List<Lost> group, int crashLimit) throws SQLException {
        Map<RunKey, Lost> asked = group.stream().collect(Collectors.toMap(RunKey::of, one -> one));
        List<Release> locked = rows(session.query(STILL_LOST), group).list(row -> {
            Lost one = asked.get(new RunKey(row.text("project"), AttemptRows.runId(row, "id")));
            return found.release(java.util.Objects.requireNonNull(one), row);
        });
        List<Release> guilty = locked.stream()
                .filter(one -> one.crashed() && one.crashes() >= crashLimit)
                .toList();
        List<Release> back =
                locked.stream().filter(Predicate.not(guilty::contains)).toList();
        int quarantined = guilty.isEmpty() ? 0 : count(rows(session.query(QUARANTINE), lost(guilty)));
        int released = back.isEmpty()
                ? 0
                : count(rows(session.query(RELEASE), lost(back))
                        .column("starts", "timestamptz", back, Release::startedAt)
                        .column("parkeds", "text", back, Release::parked)
                        .column("suspects", "int4", back, Release::suspect)
                        .column("crashes", "int4", back, Release::crashes));
        return new Swept(0, released, quarantined);
    }

    private record RunKey(String project, RunId run) {
        static RunKey of(Lost lost) {
            return new RunKey(lost.project(), lost.run());
        }
    }

    private static List<Lost> lost(Collection<Release> releases) {
        return releases.stream().map(Release::lost).toList();
    }

    private static Query rows(Query query, List<Lost> group) throws SQLException {
        return query.column("places", "tid", group, Lost::place)
                .column("projects", "text", group, Lost::project)
                .column("ids", "uuid", group, lost -> lost.run().value())
                .column("attempts", "int4", group, Lost::attempt)
                .column("owners", "uuid", group, Lost::owner);
    }

    private static int count(Query query) throws SQLException {
        return query.list(row -> row.uuid("id")).size();
    }
}
