package io.carillon.internal.postgres.limit;

import static java.util.Objects.requireNonNull;

import io.carillon.Stats.RunStats.Count;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.attempt.CancelRequests;
import io.carillon.internal.postgres.partition.Partitions;
import io.carillon.internal.postgres.sql.HistoryInsert;
import io.carillon.internal.postgres.stats.EndedRows;
import io.carillon.internal.run.Gate;
import io.carillon.internal.run.Lane;
import io.carillon.internal.schedule.OverlapDecider;
import io.carillon.internal.schedule.OverlapDecider.Decision;
import io.carillon.internal.schedule.OverlapDecider.WaitingRun;
import io.carillon.internal.store.run.GateName;
import io.carillon.schedule.OverlapPolicy;
import io.carillon.spi.ScheduleEvent;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The gates of schedules with an overlap policy: reads which runs wait and which have passed, lets
 * {@link OverlapDecider} decide, and writes the decision, all under the gate's lock.
 */
public final class OverlapGates {
    private static final String PREFIX = Gate.Kind.OVERLAP.text() + ":";

    // A tick past its grace is left to the missed policy; a tick that an edit has locked is about to end or to be
    // deleted. Nothing is locked here: many runs may wait, and runs end often.
    private static final String WAITING_RUNS = """
            SELECT g.project, g.name, coalesce(s.overlap, 'queue-all') AS overlap, passed.runs, w.id,
                   w.gate_arrival_at IS NOT NULL AS newly_arrived,
                   w.origin IN ('tick', 'trigger') AS droppable
              FROM unnest(:projects::text[], :names::text[]) AS g(project, name)
              LEFT JOIN LATERAL (SELECT overlap FROM carillon.schedule
                                  WHERE project = g.project AND id = substr(g.name, 9)::uuid LIMIT 1) s ON true
              CROSS JOIN LATERAL (SELECT count(*) AS runs
                                    FROM (SELECT 1 FROM carillon.run r
                                           WHERE r.project = g.project AND r.gate_key = g.name
                                             AND r.gate_position IS NULL LIMIT 1) passed_run) passed
              CROSS JOIN LATERAL (SELECT r.id, r.gate_arrival_at, r.origin FROM carillon.run r
                                   WHERE r.project = g.project AND r.gate_key = g.name AND r.gate_position IS NOT NULL
                                     AND (r.gate_arrival_at IS NULL OR r.gate_arrival_at <= carillon.clock())
                                       AND r.start_by > carillon.clock()
                                   ORDER BY r.gate_position LIMIT 1000) w
            """;

    // The runs to which a decision applies, if they still wait. A run that another transaction has locked is decided
    // when the gate is promoted again. The statements below find the runs by their row location.
    private static final String LOCK_DECIDED = """
            SELECT locked_run.id, locked_run.row_ctid
              FROM unnest(:projects::text[], :ids::uuid[]) AS e(project, id),
                   LATERAL (SELECT r.id, r.ctid AS row_ctid FROM carillon.run r
                             WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id AND r.gate_position IS NOT NULL
                             ORDER BY r.id LIMIT 1 FOR UPDATE SKIP LOCKED) locked_run
            """;

    // A tick that waited gets a new grace from here: if no node starts it in that time, it is missed.
    private static final String PASS = """
            UPDATE carillon.run r
               SET gate_position = NULL, gate_arrival_at = NULL, parked = NULL, ready_at = carillon.clock(),
                   start_by = CASE WHEN r.start_by < 'infinity' OR r.origin <> 'tick' THEN r.start_by
                                   ELSE carillon.clock() + coalesce((SELECT s.grace FROM carillon.schedule s
                                                                      WHERE s.project = r.project
                                                                        AND s.id = r.schedule_id), '5 min') END
             WHERE r.ctid = ANY (:ctids::tid[]) AND r.gate_position IS NOT NULL
            RETURNING r.queue, r.project
            """;

    // The run came in time and waits for its turn, however long: the missed policy does not apply to it.
    private static final String KEEP_WAITING = """
            UPDATE carillon.run SET gate_arrival_at = NULL, start_by = 'infinity'
             WHERE ctid = ANY (:ctids::tid[]) AND coalesce(gate_arrival_at, 'infinity') < 'infinity'
            """;

    private static final String DROP = """
            WITH deleted AS (
              DELETE FROM carillon.run r USING unnest(:ctids::tid[], :reasons::text[]) AS e(row_ctid, drop_reason)
               WHERE r.ctid = e.row_ctid AND r.gate_position IS NOT NULL
              RETURNING r.*, e.drop_reason)
            """
            + HistoryInsert.of("deleted", "'skipped'")
                    .with("reason", "deleted.drop_reason")
                    .from("deleted") + """
            RETURNING project, queue, target_name, coalesce(planned_at, due_at) AS at, reason,
                      (SELECT s.name FROM carillon.schedule s WHERE s.project = run_history.project
                        AND s.id = run_history.schedule_id) AS name
            """;

    // A run that has passed and waits for a slot or its next attempt ends here; a running one gets a cancel request.
    // All are locked first: otherwise neither of the two statements below would find a run that is claimed or released
    // between them.
    private static final String LOCK_PASSED = """
            SELECT g.project, g.name, passed_run.row_ctid, passed_run.idle
              FROM unnest(:projects::text[], :names::text[]) AS g(project, name),
                   LATERAL (SELECT w.ctid AS row_ctid, w.owner IS NULL AS idle FROM carillon.run w
                             WHERE w.project = g.project AND w.gate_key BETWEEN g.name AND g.name
                               AND w.gate_position IS NULL
                             ORDER BY w.gate_key LIMIT 1000 FOR UPDATE) passed_run
            """;

    private static final String CANCEL_IDLE = """
            WITH deleted AS (
              DELETE FROM carillon.run WHERE ctid = ANY (:ctids::tid[]) AND carillon.undo_state(project, id) = 'none'
              RETURNING *)
            """
            + HistoryInsert.of("deleted", "'cancelled'")
                    .with("reason", "'overlap: a newer run took its place'")
                    .from("deleted RETURNING " + EndedRows.COLUMNS);

    private static final String CANCEL_RUNNING = """
            INSERT INTO carillon.cancel_request (project, run_id, reason)
            SELECT project, id, 'overlap: a newer run took its place' FROM carillon.run WHERE ctid = ANY (:ctids::tid[])
            ON CONFLICT (project, run_id) DO NOTHING
            """;

    private static final String NOTIFY_CANCEL = "SELECT pg_notify('carillon', 'cancel')";

    private final Database database;
    private final Partitions partitions;
    private final CancelRequests cancelRequests;
    private final EndedRows endedRows;

    public OverlapGates(Database database, Partitions partitions, CancelRequests cancels, EndedRows endedRows) {
        this.database = database;
        this.partitions = partitions;
        this.cancelRequests = cancels;
        this.endedRows = endedRows;
    }

    static boolean isOverlapGate(GateName gate) {
        return gate.name().startsWith(PREFIX);
    }

    /**
     * Adds the lanes that have new claimable runs, and the skipped runs; returns the gates that were locked here and
     * need no further promotion.
     */
    List<GateName> pass(List<GateName> gates, Collection<Lane> lanes, Collection<ScheduleEvent.Skipped> skipped) {
        record Done(List<GateName> locked, List<Lane> lanes, List<ScheduleEvent.Skipped> skipped, boolean cancelled) {}
        Done done = partitions.creatingMissing(() -> database.transaction(session -> {
            List<GateName> locked = GateRepository.lock(session, gates);
            if (locked.isEmpty()) return new Done(locked, List.of(), List.of(), false);
            Map<GateName, Decision> decided = decide(session, locked);
            Set<GateName> seen = Set.copyOf(decided.keySet());
            List<GateName> cancelling = locked.stream()
                    .filter(gate ->
                            decided.containsKey(gate) && decided.get(gate).cancelsEarlier())
                    .toList();
            Set<GateName> occupied = cancelling.isEmpty() ? Set.of() : cancelEarlier(session, cancelling);
            Map<UUID, String> ctids = lockDecided(session, decided);
            // A gate with a locked run, or whose earlier runs have all ended meanwhile, is promoted again.
            List<GateName> free = locked.stream()
                    .filter(gate -> !seen.contains(gate)
                            || ctids.keySet().containsAll(changedRuns(requireNonNull(decided.get(gate)))))
                    .filter(gate -> !cancelling.contains(gate) || occupied.contains(gate))
                    .toList();
            // If a run that should pass is locked, the decision about the other runs of its gate is discarded too.
            decided.values().removeIf(decision -> !ctids.keySet().containsAll(decision.passes()));
            List<ScheduleEvent.Skipped> dropped = dropRuns(session, decided.values(), ctids);
            return new Done(free, writeDecisions(session, decided.values(), ctids), dropped, !cancelling.isEmpty());
        }));
        lanes.addAll(done.lanes());
        skipped.addAll(done.skipped());
        if (done.cancelled()) cancelRequests.endReleasedRuns();
        return done.locked();
    }

    /** Locks the runs that a decision changes; runs that simply continue to wait are not among them. */
    private static Map<UUID, String> lockDecided(Session session, Map<GateName, Decision> decided) throws SQLException {
        Map<UUID, String> projects = new TreeMap<>();
        decided.forEach((gate, decision) -> changedRuns(decision).forEach(run -> projects.put(run, gate.project())));
        Map<UUID, String> ctids = new HashMap<>();
        if (!projects.isEmpty())
            session.query(LOCK_DECIDED)
                    .column("projects", "text", projects.values(), project -> project)
                    .column("ids", "uuid", projects.keySet(), run -> run)
                    .list(row -> ctids.put(row.uuid("id"), row.text("row_ctid")));
        return ctids;
    }

    private static Set<UUID> changedRuns(Decision decision) {
        Set<UUID> runs = new HashSet<>(decision.dropped().keySet());
        runs.addAll(decision.passes());
        runs.addAll(decision.waits());
        return runs;
    }

    private record OverlapState(OverlapPolicy policy, long passed, List<WaitingRun> waiting) {
        /** Returns the decision. Only runs that are new at the gate are marked as waiting; the others already are. */
        Decision decision() {
            Decision all = OverlapDecider.decide(policy, passed, waiting);
            Set<UUID> fresh = waiting.stream()
                    .filter(WaitingRun::undecided)
                    .map(WaitingRun::run)
                    .collect(Collectors.toSet());
            List<UUID> waits = all.waits().stream().filter(fresh::contains).toList();
            return new Decision(all.passes(), waits, all.dropped(), all.cancelsEarlier());
        }
    }

    private static Optional<OverlapPolicy> parsePolicy(String policy) {
        return Stream.of(OverlapPolicy.values())
                .filter(overlapPolicy -> overlapPolicy.text().equals(policy))
                .findFirst();
    }

    private static Map<GateName, Decision> decide(Session session, List<GateName> gates) throws SQLException {
        Map<GateName, OverlapState> states = new LinkedHashMap<>();
        GateRepository.bindGates(session.query(WAITING_RUNS), gates).list(row -> {
            GateName gate = new GateName(row.text("project"), row.text("name"));
            Optional<OverlapPolicy> policy = parsePolicy(row.text("overlap"));
            // A policy of a newer version: nodes that know it decide, and the other gates of the group continue.
            if (policy.isEmpty()) return false;
            long live = row.number("runs");
            OverlapState overlapState =
                    states.computeIfAbsent(gate, g -> new OverlapState(policy.get(), live, new ArrayList<>()));
            return overlapState
                    .waiting()
                    .add(new WaitingRun(row.uuid("id"), row.flag("newly_arrived"), row.flag("droppable")));
        });
        Map<GateName, Decision> decided = new LinkedHashMap<>();
        states.forEach((gate, overlapState) -> decided.put(gate, overlapState.decision()));
        return decided;
    }

    private List<ScheduleEvent.Skipped> dropRuns(Session session, Collection<Decision> decided, Map<UUID, String> ctids)
            throws SQLException {
        Map<UUID, String> dropped = new LinkedHashMap<>();
        decided.forEach(decision -> dropped.putAll(decision.dropped()));
        dropped.keySet().retainAll(ctids.keySet());
        if (dropped.isEmpty()) return List.of();
        Query drop = session.query(DROP)
                .column("ctids", "tid", dropped.keySet(), ctids::get)
                .column("reasons", "text", dropped.values(), reason -> reason);
        return endedRows.list(session, drop, Count.SKIPPED, OverlapGates::readSkipped);
    }

    private static ScheduleEvent.Skipped readSkipped(Row row) throws SQLException {
        String name = row.maybeText("name");
        return new ScheduleEvent.Skipped(
                row.text("project"),
                name == null ? "" : name,
                ScheduleEvent.AffectedInstants.single(row.instant("at"), row.text("reason")));
    }

    private static List<Lane> writeDecisions(Session session, Collection<Decision> decided, Map<UUID, String> ctids)
            throws SQLException {
        List<UUID> passes = new ArrayList<>();
        List<UUID> waits = new ArrayList<>();
        decided.forEach(decision -> {
            passes.addAll(decision.passes());
            waits.addAll(decision.waits());
        });
        waits.retainAll(ctids.keySet());
        if (!waits.isEmpty())
            session.query(KEEP_WAITING)
                    .column("ctids", "tid", waits, ctids::get)
                    .update();
        if (passes.isEmpty()) return List.of();
        return session.query(PASS).column("ctids", "tid", passes, ctids::get).list(GateRepository::readLane);
    }

    /** Cancels the runs that have passed; returns the gates where such a run is still running. */
    private Set<GateName> cancelEarlier(Session session, List<GateName> gates) throws SQLException {
        List<String> idle = new ArrayList<>();
        List<String> running = new ArrayList<>();
        Set<GateName> occupied = new HashSet<>();
        GateRepository.bindGates(session.query(LOCK_PASSED), gates).list(row -> {
            if (row.flag("idle")) return idle.add(row.text("row_ctid"));
            occupied.add(GateRepository.readGateName(row));
            return running.add(row.text("row_ctid"));
        });
        if (!idle.isEmpty())
            endedRows.count(
                    session, session.query(CANCEL_IDLE).column("ctids", "tid", idle, place -> place), Count.CANCELLED);
        // What is left of the idle runs are workflows with steps to undo.
        running.addAll(idle);
        if (!running.isEmpty())
            session.query(CANCEL_RUNNING)
                    .column("ctids", "tid", running, place -> place)
                    .update();
        session.query(NOTIFY_CANCEL).list(row -> row);
        return occupied;
    }
}
