package io.carillon.internal.postgres.node;

import io.carillon.Stats.RunStats.Count;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.postgres.attempt.AttemptEndings;
import io.carillon.internal.postgres.attempt.AttemptRows;
import io.carillon.internal.postgres.attempt.CancelRequests;
import io.carillon.internal.postgres.partition.Partitions;
import io.carillon.internal.postgres.sql.HistoryInsert;
import io.carillon.internal.postgres.stats.EndedRows;
import io.carillon.internal.store.node.RescueResult;
import io.carillon.internal.store.run.IsolationRule;
import io.carillon.internal.value.ControlCharacters;
import io.carillon.run.RunId;
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
 * A rescuer that releases the runs of dead nodes and runs whose own lease has expired. A dead node is rescued twice,
 * immediately and a minute later, because a claim that it had sent may commit after its death was recorded.
 */
public final class LostLeaseRescuer {
    private static final Logger log = LoggerFactory.getLogger(LostLeaseRescuer.class);
    private static final int GROUP_SIZE = 1_000;

    private static final String DEAD_NODES = """
            SELECT id, handlers, death_analyzed_at, probable_cause_run_id, carillon.clock() AS read_at,
                   started_at > dead_at - interval '1 minute'
                     AND EXISTS (SELECT 1 FROM carillon.node o
                                  WHERE o.id <> n.id AND o.dead_reason <> 'stopped'
                                    AND o.dead_at BETWEEN n.dead_at - interval '1 minute' AND n.dead_at
                                    AND o.started_at > o.dead_at - interval '1 minute') AS died_early
              FROM carillon.node n
             WHERE dead_at IS NOT NULL
               AND (rescued_at IS NULL
                    OR (rescued_at < dead_at + interval '1 minute'
                      AND carillon.clock() >= dead_at + interval '1 minute'))
            """;

    // One node reads and analyzes for the whole cluster.
    private static final String TRY_LOCK =
            "SELECT pg_try_advisory_xact_lock(hashtextextended('carillon.rescue', 0)) AS locked";

    private static final String HELD_BY_CLAIM_RECORDS = "SELECT r.ctid, r.project, r.id, r.attempt, r.owner, r.parked"
            + AttemptRows.RECORDED_RUNS + " WHERE n.node = ANY (:dead::uuid[]) AND r.id IS NOT NULL";

    private static final String EXPIRED = """
            SELECT ctid, project, id, attempt, owner, parked FROM carillon.run
             WHERE leased_until IS NOT NULL AND leased_until < carillon.clock() AND parked IS DISTINCT FROM 'awaiting'
             ORDER BY leased_until LIMIT 10000
            """;

    // The probable cause is determined once, from all runs that the node held: after some of them are released, each
    // remaining run would seem to be the only run that had not run for long.
    private static final String SAVE_DEATH_ANALYSIS = """
            UPDATE carillon.node n SET death_analyzed_at = carillon.clock(), probable_cause_run_id = e.run
              FROM unnest(:dead::uuid[], :runs::uuid[]) AS e(id, run) WHERE n.id = e.id AND n.death_analyzed_at IS NULL
            """;

    // The runs whose attempt is still the same and whose own lease, if any, has expired. A row that moved since it was
    // read is left to the next rescue.
    private static final String LOCK_LOST = """
            SELECT r.* FROM unnest(:ctids::tid[], :projects::text[], :ids::uuid[], :attempts::int[], :owners::uuid[])
                       AS e(row_ctid, project, id, attempt, owner),
                   LATERAL (SELECT ctid, project, id, attempt, owner, started_at, target_name, parked, node_deaths,
                     crashes FROM carillon.run
                             WHERE ctid = e.row_ctid AND project = e.project AND id = e.id AND attempt = e.attempt
                               AND owner = e.owner
                               AND (leased_until IS NULL OR leased_until < carillon.clock())
                             FOR UPDATE SKIP LOCKED) r
            """;

    private static final String REASON = "'its node died ' || deleted.crashes + 1 || ' times while it ran alone'";

    // The statements below follow LOCK_LOST in its transaction: the rows are locked and are where it found them. IS
    // TRUE keeps the fence from becoming a join over the whole key index.
    private static final String QUARANTINE = """
            WITH deleted AS (
              DELETE FROM carillon.run r
               USING unnest(:ctids::tid[], :projects::text[], :ids::uuid[], :attempts::int[], :owners::uuid[])
                 AS e(row_ctid, project, id, attempt, owner)
               WHERE r.ctid = e.row_ctid
                 AND ((r.project, r.id, r.attempt, r.owner) = (e.project, e.id, e.attempt, e.owner)) IS TRUE
              RETURNING r.*),
            dead_copy AS (
            """
            + HistoryInsert.DeadRunInsert.of("deleted", "'quarantined'", REASON)
                    .with("crashes", "deleted.crashes + 1")
                    .from("deleted)")
            + HistoryInsert.of("deleted", "'quarantined'")
                    .with("crashes", "deleted.crashes + 1")
                    .with("started_at", "deleted.started_at")
                    .with("owner", "deleted.owner")
                    .with("reason", REASON)
                    .from("deleted RETURNING " + EndedRows.COLUMNS);

    // A run that returns to the ordinary runs writes no index: its ready_at is still the one at which it was claimed.
    private static final String RELEASE = """
            WITH released AS (
              UPDATE carillon.run r
                 SET owner = NULL, leased_until = NULL, started_at = NULL,
                     start_by = CASE WHEN e.parked = 'no-handler' THEN r.start_by ELSE 'infinity' END,
                     parked = e.parked, node_deaths = e.node_deaths, crashes = e.crashes,
                     limited_by = CASE WHEN e.parked = 'isolated' THEN r.limited_by END,
                     gate_position = CASE WHEN e.parked = 'no-handler'
                       THEN carillon.gate_position_without_handler(r.gate_key, r.gate_position)
                       ELSE r.gate_position END,
                     ready_at = CASE WHEN e.parked IS NOT NULL THEN 'infinity'
                       WHEN r.ready_at = 'infinity' THEN carillon.clock() ELSE r.ready_at END
                FROM unnest(:ctids::tid[], :projects::text[], :ids::uuid[], :attempts::int[], :owners::uuid[],
                            :startedAts::timestamptz[], :parkedReasons::text[], :nodeDeaths::int[], :crashes::int[])
                       AS e(row_ctid, project, id, attempt, owner, started_at, parked, node_deaths, crashes)
               WHERE r.ctid = e.row_ctid
                 AND ((r.project, r.id, r.attempt, r.owner) = (e.project, e.id, e.attempt, e.owner)) IS TRUE
              RETURNING r.project, r.queue, r.target_name, r.id, r.attempt, r.day, r.origin, e.owner, e.started_at),
            recorded AS (
              INSERT INTO carillon.attempt (project, run_id, attempt, day, owner, started_at, ended_at, outcome, error)
              SELECT project, id, attempt,\s""" + HistoryInsert.historyDay("released") + """
                     , owner, started_at, carillon.clock(), 'crashed', 'the node died, or the lease expired'
                FROM released
              ON CONFLICT DO NOTHING)
            SELECT project, queue, target_name FROM released
            """;

    // Of two rescues that end at the same time, one counts the node.
    private static final String MARK_RESCUED = """
            UPDATE carillon.node SET rescued_at = :at::timestamptz
             WHERE id = ANY (:dead::uuid[]) AND (rescued_at IS NULL OR rescued_at < :at::timestamptz)
            """;

    // The claim records are kept until the second rescue has read them. The time of the read decides, not the end of
    // the rescue: records that were written between the two were not read.
    private static final String DELETE_CLAIM_RECORDS = """
            DELETE FROM carillon.claim_record
             WHERE node = ANY (ARRAY(SELECT id FROM carillon.node
                                      WHERE id = ANY (:dead::uuid[])
                                        AND :at::timestamptz >= dead_at + interval '1 minute'))
            """;

    private final Database database;
    private final Database rescueDatabase;
    private final Partitions partitions;
    private final CancelRequests cancelRequests;
    private final AttemptEndings attemptEndings;
    private final EndedRows endedRows;

    public LostLeaseRescuer(
            Database database,
            Database rescueDatabase,
            Partitions partitions,
            CancelRequests cancels,
            AttemptEndings attemptEndings,
            EndedRows endedRows) {
        this.attemptEndings = attemptEndings;
        this.endedRows = endedRows;
        this.database = database;
        this.rescueDatabase = rescueDatabase;
        this.partitions = partitions;
        this.cancelRequests = cancels;
    }

    /**
     * A dead node. {@code diedEarly} says that it died within a minute of its start, and another node did so in the
     * minute before; {@code probableCause} is the only run that can have caused the death, null if there is none or it
     * is not analyzed yet.
     */
    private record DeadNode(
            UUID node,
            Set<String> handlers,
            boolean diedEarly,
            boolean analyzed,
            @Nullable UUID probableCause,
            Instant readAt) {
        static DeadNode read(Row row) throws SQLException {
            return new DeadNode(
                    row.uuid("id"),
                    Set.copyOf(row.texts("handlers")),
                    row.flag("died_early"),
                    row.maybeInstant("death_analyzed_at") != null,
                    row.maybeUuid("probable_cause_run_id"),
                    row.instant("read_at"));
        }

        DeadNode analyzed(List<LostRun> held) {
            if (analyzed) return this;
            List<LostRun> unproven = held.stream()
                    .filter(one -> one.owner().equals(node) && !one.proven())
                    .toList();
            UUID only = unproven.size() == 1 ? unproven.get(0).run().value() : null;
            return new DeadNode(node, handlers, diedEarly, true, only, readAt);
        }
    }

    /** A run as it was read; {@code proven}: it has run long enough not to be the cause of its node's death. */
    private record LostRun(String ctid, String project, RunId run, int attempt, UUID owner, boolean proven) {
        static LostRun read(Row row) throws SQLException {
            return new LostRun(
                    row.text("ctid"),
                    row.text("project"),
                    AttemptRows.runId(row, "id"),
                    row.integer("attempt"),
                    row.uuid("owner"),
                    "running".equals(row.maybeText("parked")));
        }
    }

    /** A locked run and the decision about it. */
    private record ReleaseDecision(
            LostRun lostRun,
            @Nullable Instant startedAt,
            @Nullable String parked,
            int nodeDeaths,
            int crashes,
            boolean crashed) {}

    /** The input of one rescue: dead nodes by id, and their runs. */
    private record RescueBatch(Map<UUID, DeadNode> deadNodes, List<LostRun> lostRuns) {
        static RescueBatch of(Map<UUID, DeadNode> dead, Collection<LostRun> lost) {
            return new RescueBatch(dead, List.copyOf(new LinkedHashSet<>(lost)));
        }

        /** Returns whether this is the only run that can have caused the death of its owner. */
        boolean isProbableCause(LostRun one) {
            return one.run().value().equals(ownerOf(one).probableCause());
        }

        /**
         * Returns whether the owner had the handler. A node without it cannot have died of the run: it was about to
         * release the run, and the rescue does that instead.
         */
        boolean hadHandler(LostRun one, String handler) {
            return ownerOf(one).handlers().contains(handler);
        }

        private DeadNode ownerOf(LostRun one) {
            return java.util.Objects.requireNonNull(deadNodes.get(one.owner()));
        }

        private boolean diedEarly(LostRun one) {
            DeadNode owner = deadNodes.get(one.owner());
            return owner != null && owner.diedEarly();
        }

        ReleaseDecision decide(LostRun one, Row row) throws SQLException {
            if (!deadNodes.containsKey(one.owner())) return decideExpired(one, row);
            boolean tried = hadHandler(one, row.text("target_name"));
            boolean crashed = "isolated".equals(row.maybeText("parked")) && isProbableCause(one);
            int deaths = Math.min(100, row.integer("node_deaths") + (tried ? 1 : 0));
            String parked = !tried
                    ? "no-handler"
                    : IsolationRule.needsIsolation(deaths, one.proven(), diedEarly(one)) ? "isolated" : null;
            return new ReleaseDecision(
                    one,
                    row.maybeInstant("started_at"),
                    parked,
                    deaths,
                    row.integer("crashes") + (crashed ? 1 : 0),
                    crashed);
        }

        /**
         * Decides about a run whose own lease has expired. That proves no crash: the host may have stopped a process
         * without heartbeats. An isolated run stays isolated.
         */
        private static ReleaseDecision decideExpired(LostRun one, Row row) throws SQLException {
            String parked = "isolated".equals(row.maybeText("parked")) ? "isolated" : null;
            return new ReleaseDecision(
                    one,
                    row.maybeInstant("started_at"),
                    parked,
                    row.integer("node_deaths"),
                    row.integer("crashes"),
                    false);
        }
    }

    /** Rescues runs. Open attempts past their time come last: none of them delays the runs of dead nodes. */
    RescueResult rescue(int crashLimit) {
        RescueResult result = release(crashLimit);
        attemptEndings.failExpired();
        return result;
    }

    /** Ends cancelled runs that an interrupted node released. Called last: its failure stops nothing else. */
    void endCancelled() {
        cancelRequests.endReleasedRuns();
        cancelRequests.purgeEnded();
    }

    private RescueResult release(int crashLimit) {
        List<LostRun> lost = new ArrayList<>(
                database.single(session -> session.query(EXPIRED).list(LostRun::read)));
        Map<UUID, DeadNode> dead = new HashMap<>();
        readHeldByDead().ifPresent(held -> {
            dead.putAll(held.deadNodes());
            lost.addAll(held.lostRuns());
        });
        lost.sort(Comparator.comparing(LostRun::run));
        RescueBatch rescueBatch = RescueBatch.of(dead, lost);
        RescueResult rescueResult = new RescueResult(0, 0, 0);
        Set<UUID> unfinished = new HashSet<>();
        for (int from = 0; from < rescueBatch.lostRuns().size(); from += GROUP_SIZE) {
            List<LostRun> group = rescueBatch
                    .lostRuns()
                    .subList(from, Math.min(rescueBatch.lostRuns().size(), from + GROUP_SIZE));
            rescueResult = rescueResult.plus(releaseInHalves(rescueBatch, group, crashLimit, unfinished));
        }
        // A run that another transaction had locked may still be held: then the next rescue decides.
        List<UUID> finished = dead.keySet().stream()
                .filter(Predicate.not(unfinished::contains))
                .toList();
        if (finished.isEmpty()) return rescueResult;
        Instant read =
                java.util.Objects.requireNonNull(dead.get(finished.get(0))).readAt();
        int nodes = 0;
        for (String done : List.of(DELETE_CLAIM_RECORDS, MARK_RESCUED))
            nodes = database.single(session -> session.query(done)
                    .uuids("dead", finished)
                    .instant("at", read)
                    .update());
        return rescueResult.plus(new RescueResult(nodes, 0, 0));
    }

    /** Reads and analyzes the runs of dead nodes; empty if there are none, or if another node is reading them. */
    private Optional<RescueBatch> readHeldByDead() {
        if (database.single(session -> session.query(DEAD_NODES).list(DeadNode::read))
                .isEmpty()) return Optional.empty();
        return rescueDatabase.transaction(session -> {
            boolean mine =
                    session.query(TRY_LOCK).first(row -> row.flag("locked")).orElse(false);
            if (!mine) return Optional.empty();
            List<DeadNode> dead = session.query(DEAD_NODES).list(DeadNode::read);
            Set<UUID> nodes = dead.stream().map(DeadNode::node).collect(Collectors.toSet());
            List<LostRun> held =
                    session.query(HELD_BY_CLAIM_RECORDS).uuids("dead", nodes).list(LostRun::read);
            List<LostRun> lost = List.copyOf(new LinkedHashSet<>(held));
            List<DeadNode> judged = dead.stream().map(one -> one.analyzed(lost)).toList();
            session.query(SAVE_DEATH_ANALYSIS)
                    .column("dead", "uuid", judged, DeadNode::node)
                    .column("runs", "uuid", judged, DeadNode::probableCause)
                    .update();
            return Optional.of(
                    RescueBatch.of(judged.stream().collect(Collectors.toMap(DeadNode::node, one -> one)), lost));
        });
    }

    /** Releases a group; a group that fails is split in halves down to the row that causes the failure. */
    private RescueResult releaseInHalves(
            RescueBatch rescueBatch, List<LostRun> group, int crashLimit, Set<UUID> unfinished) {
        try {
            RescueResult rescueResult = partitions.creatingMissing(
                    () -> database.transaction(session -> release(session, rescueBatch, group, crashLimit)));
            if (rescueResult.released() + rescueResult.quarantined() < group.size())
                group.forEach(one -> unfinished.add(one.owner()));
            return rescueResult;
        } catch (StorageException failure) {
            if (!failure.isRowError()) throw failure;
            if (group.size() == 1) {
                unfinished.add(group.get(0).owner());
                log.error(
                        "run of a dead node cannot be released run={} error={}",
                        group.get(0).run(),
                        ControlCharacters.escape(failure.getMessage()));
                return new RescueResult(0, 0, 0, 1);
            }
            int half = group.size() / 2;
            return releaseInHalves(rescueBatch, group.subList(0, half), crashLimit, unfinished)
                    .plus(releaseInHalves(rescueBatch, group.subList(half, group.size()), crashLimit, unfinished));
        }
    }

    private RescueResult release(Session session, RescueBatch rescueBatch, List<LostRun> group, int crashLimit)
            throws SQLException {
        Map<RunKey, LostRun> asked = group.stream().collect(Collectors.toMap(RunKey::of, one -> one));
        List<ReleaseDecision> locked = bindRuns(session.query(LOCK_LOST), group).list(row -> {
            LostRun one = asked.get(new RunKey(row.text("project"), AttemptRows.runId(row, "id")));
            return rescueBatch.decide(java.util.Objects.requireNonNull(one), row);
        });
        List<ReleaseDecision> quarantine = locked.stream()
                .filter(one -> one.crashed() && one.crashes() >= crashLimit)
                .toList();
        List<ReleaseDecision> back =
                locked.stream().filter(Predicate.not(quarantine::contains)).toList();
        int quarantined = quarantine.isEmpty()
                ? 0
                : endedRows.count(
                        session, bindRuns(session.query(QUARANTINE), lostRuns(quarantine)), Count.QUARANTINED);
        if (back.isEmpty()) return new RescueResult(0, 0, quarantined);
        Query release = bindRuns(session.query(RELEASE), lostRuns(back))
                .column("startedAts", "timestamptz", back, ReleaseDecision::startedAt)
                .column("parkedReasons", "text", back, ReleaseDecision::parked)
                .column("nodeDeaths", "int4", back, ReleaseDecision::nodeDeaths)
                .column("crashes", "int4", back, ReleaseDecision::crashes);
        return new RescueResult(0, endedRows.count(session, release, Count.RESCUED), quarantined);
    }

    private record RunKey(String project, RunId run) {
        static RunKey of(LostRun lostRun) {
            return new RunKey(lostRun.project(), lostRun.run());
        }
    }

    private static List<LostRun> lostRuns(Collection<ReleaseDecision> releases) {
        return releases.stream().map(ReleaseDecision::lostRun).toList();
    }

    private static Query bindRuns(Query query, List<LostRun> group) throws SQLException {
        return query.column("ctids", "tid", group, LostRun::ctid)
                .column("projects", "text", group, LostRun::project)
                .column("ids", "uuid", group, lostRun -> lostRun.run().value())
                .column("attempts", "int4", group, LostRun::attempt)
                .column("owners", "uuid", group, LostRun::owner);
    }
}
