package io.carillon.postgres;

import io.carillon.run.Gate;
import io.carillon.run.Lane;
import io.carillon.schedule.Overlap;
import io.carillon.schedule.OverlapDecider;
import io.carillon.schedule.OverlapDecider.Decision;
import io.carillon.schedule.OverlapDecider.Waiting;
import io.carillon.store.GateName;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** The gates of schedules: reads who waits and who is through, lets {@link OverlapDecider} decide, and writes that down, all under the gate's lock. */
final class OverlapGates {
    private static final String PREFIX = Gate.Kind.OVERLAP.text() + ":";

    // A tick past its grace belongs to the missed policy; what an edit holds is about to be ended or forgotten. What is
    // found is locked, so the statements below reach it by its place.
    private static final String LINE = """
            SELECT g.project, g.name, coalesce(s.overlap, 'queue-all') AS overlap, held.live, w.id, w.place, w.gate_at IS NOT NULL AS fresh,
                   w.origin IN ('tick', 'trigger') AS droppable
              FROM unnest(:projects::text[], :names::text[]) AS g(project, name)
              LEFT JOIN LATERAL (SELECT overlap FROM carillon.schedule
                                  WHERE project = g.project AND id = substr(g.name, 9)::uuid LIMIT 1) s ON true
              CROSS JOIN LATERAL (SELECT count(*) AS live
                                    FROM (SELECT 1 FROM carillon.run r
                                           WHERE r.project = g.project AND r.gate_key = g.name AND r.seq IS NULL LIMIT 1) through) held
              CROSS JOIN LATERAL (SELECT r.ctid AS place, r.id, r.gate_at, r.origin FROM carillon.run r
                                   WHERE r.project = g.project AND r.gate_key = g.name AND r.seq IS NOT NULL
                                     AND (r.gate_at IS NULL OR r.gate_at <= carillon.clock()) AND r.start_by > carillon.clock()
                                   ORDER BY r.seq LIMIT 1000 FOR UPDATE SKIP LOCKED) w
            """;

    // A tick that waited has its grace anew from here: whoever does not start it then lets it be missed.
    private static final String LET_THROUGH = """
            UPDATE carillon.run r
               SET seq = NULL, gate_at = NULL, parked = NULL, ready_at = carillon.clock(),
                   start_by = CASE WHEN r.start_by < 'infinity' OR r.origin <> 'tick' THEN r.start_by
                                   ELSE carillon.clock() + coalesce((SELECT s.grace FROM carillon.schedule s
                                                                      WHERE s.project = r.project AND s.id = r.schedule_id), '5 min') END
             WHERE r.ctid = ANY (:places::tid[]) AND r.seq IS NOT NULL
            RETURNING r.queue, r.project
            """;

    // It came in time and waits for its turn, however long: that is not the missed policy's affair.
    private static final String KEEP_WAITING = """
            UPDATE carillon.run SET gate_at = NULL, start_by = 'infinity'
             WHERE ctid = ANY (:places::tid[]) AND seq IS NOT NULL
            """;

    private static final String HISTORY = """
            INSERT INTO carillon.run_history
              (project, id, day, queue, class, suspect, crashes, attempt, failures, due_at, planned_at, started_at, ended_at, created_at,
               schedule_id, parent_id, owner, state, origin, target, target_name, key, reason, trace)
            SELECT project, id, day, queue, class, suspect, crashes, attempt, failures, due_at, planned_at, NULL, carillon.clock(), created_at,
                   schedule_id, parent_id, NULL,\s""";

    private static final String DROP =
            """
            WITH gone AS (
              DELETE FROM carillon.run r USING unnest(:places::tid[], :reasons::text[]) AS e(place, why)
               WHERE r.ctid = e.place AND r.seq IS NOT NULL
              RETURNING r.*, e.why)
            """ + HISTORY + "'skipped', origin, target, target_name, key, why, trace FROM gone";

    // Whoever is through and waits for a slot or its next attempt ends here; whoever runs is told to.
    private static final String CANCEL_IDLE = """
            WITH gone AS (
              DELETE FROM carillon.run r
               WHERE r.owner IS NULL AND r.ctid = any(array(
                 SELECT idle.ctid FROM unnest(:projects::text[], :names::text[]) AS g(project, name),
                        LATERAL (SELECT w.ctid FROM carillon.run w
                                  WHERE w.project = g.project AND w.gate_key = g.name AND w.seq IS NULL AND w.owner IS NULL
                                  ORDER BY w.seq LIMIT 1000) idle))
              RETURNING r.*)
            """ + HISTORY
            + "'cancelled', origin, target, target_name, key, 'overlap: a newer run took its place', trace FROM gone";

    private static final String CANCEL_RUNNING = """
            INSERT INTO carillon.cancel_request (project, run_id, reason)
            SELECT running.project, running.id, 'overlap: a newer run took its place'
              FROM unnest(:projects::text[], :names::text[]) AS g(project, name),
                   LATERAL (SELECT w.project, w.id FROM carillon.run w
                             WHERE w.project = g.project AND w.gate_key = g.name AND w.seq IS NULL AND w.owner IS NOT NULL
                             ORDER BY w.seq LIMIT 1000
                               FOR SHARE) running
            ON CONFLICT (project, run_id) DO NOTHING
            """;

    private static final String NOTIFY_CANCEL = "SELECT pg_notify('carillon', 'cancel')";

    private final Database database;
    private final Partitions partitions;
    private final CancelOrders cancels;

    OverlapGates(Database database, Partitions partitions, CancelOrders cancels) {
        this.database = database;
        this.partitions = partitions;
        this.cancels = cancels;
    }

    static boolean owns(GateName gate) {
        return gate.name().startsWith(PREFIX);
    }

    /** Adds the lanes that have something new; returns the gates nobody else was at. */
    List<GateName> pass(List<GateName> gates, Collection<Lane> lanes) {
        record Done(List<GateName> locked, List<Lane> lanes, boolean cancelled) {}
        Done done = partitions.completing(() -> database.transaction(session -> {
            List<GateName> locked = GateRepository.lock(session, gates);
            if (locked.isEmpty()) return new Done(locked, List.of(), false);
            Map<UUID, String> places = new HashMap<>();
            Map<GateName, Decision> decided = decide(session, locked, places);
            List<GateName> cancelling = locked.stream()
                    .filter(gate ->
                            decided.containsKey(gate) && decided.get(gate).cancelsEarlier())
                    .toList();
            return new Done(locked, write(session, decided, cancelling, places), !cancelling.isEmpty());
        }));
        lanes.addAll(done.lanes());
        if (done.cancelled()) cancels.settle();
        return done.locked();
    }

    private record Line(Overlap policy, long through, List<Waiting> waiting) {}

    private static Map<GateName, Decision> decide(Session session, List<GateName> gates, Map<UUID, String> places)
            throws SQLException {
        Map<GateName, Line> lines = new LinkedHashMap<>();
        GateRepository.named(session.query(LINE), gates).list(row -> {
            GateName gate = new GateName(row.text("project"), row.text("name"));
            Overlap policy = Overlap.of(row.text("overlap"));
            long live = row.number("live");
            Line line = lines.computeIfAbsent(gate, g -> new Line(policy, live, new ArrayList<>()));
            places.put(row.uuid("id"), row.text("place"));
            return line.waiting().add(new Waiting(row.uuid("id"), row.flag("fresh"), row.flag("droppable")));
        });
        Map<GateName, Decision> decided = new LinkedHashMap<>();
        lines.forEach((gate, line) ->
                decided.put(gate, OverlapDecider.decide(line.policy(), line.through(), line.waiting())));
        return decided;
    }

    private static List<Lane> write(
            Session session, Map<GateName, Decision> decided, List<GateName> cancelling, Map<UUID, String> places)
            throws SQLException {
        List<UUID> passes = new ArrayList<>();
        List<UUID> waits = new ArrayList<>();
        Map<UUID, String> dropped = new LinkedHashMap<>();
        decided.values().forEach(decision -> {
            passes.addAll(decision.passes());
            waits.addAll(decision.waits());
            dropped.putAll(decision.dropped());
        });
        if (!cancelling.isEmpty()) {
            GateRepository.named(session.query(CANCEL_IDLE), cancelling).update();
            GateRepository.named(session.query(CANCEL_RUNNING), cancelling).update();
            session.query(NOTIFY_CANCEL).list(row -> row);
        }
        if (!dropped.isEmpty())
            session.query(DROP)
                    .column("places", "tid", dropped.keySet(), places::get)
                    .column("reasons", "text", dropped.values(), reason -> reason)
                    .update();
        if (!waits.isEmpty())
            session.query(KEEP_WAITING)
                    .column("places", "tid", waits, places::get)
                    .update();
        if (passes.isEmpty()) return List.of();
        return session.query(LET_THROUGH)
                .column("places", "tid", passes, places::get)
                .list(GateRepository::lane);
    }
}
