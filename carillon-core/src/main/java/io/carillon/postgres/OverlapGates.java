package io.carillon.postgres;

import static java.util.Objects.requireNonNull;

import io.carillon.postgres.sql.HistoryRows;
import io.carillon.run.Gate;
import io.carillon.run.Lane;
import io.carillon.schedule.Overlap;
import io.carillon.schedule.OverlapDecider;
import io.carillon.schedule.OverlapDecider.Decision;
import io.carillon.schedule.OverlapDecider.Waiting;
import io.carillon.schedule.ScheduleEvent;
import io.carillon.store.GateName;
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

/** The gates of schedules: reads who waits and who is through, lets {@link OverlapDecider} decide, and writes that down, all under the gate's lock. */
final class OverlapGates {
    private static final String PREFIX = Gate.Kind.OVERLAP.text() + ":";

    // A tick past its grace belongs to the missed policy; what an edit holds is about to be ended or forgotten. Nothing
    // is
    // locked here: the line may be long, and an ending comes by often.
    private static final String LINE = """
            SELECT g.project, g.name, coalesce(s.overlap, 'queue-all') AS overlap, held.live, w.id, w.gate_at IS NOT NULL AS fresh,
                   w.origin IN ('tick', 'trigger') AS droppable
              FROM unnest(:projects::text[], :names::text[]) AS g(project, name)
              LEFT JOIN LATERAL (SELECT overlap FROM carillon.schedule
                                  WHERE project = g.project AND id = substr(g.name, 9)::uuid LIMIT 1) s ON true
              CROSS JOIN LATERAL (SELECT count(*) AS live
                                    FROM (SELECT 1 FROM carillon.run r
                                           WHERE r.project = g.project AND r.gate_key = g.name AND r.seq IS NULL LIMIT 1) through) held
              CROSS JOIN LATERAL (SELECT r.id, r.gate_at, r.origin FROM carillon.run r
                                   WHERE r.project = g.project AND r.gate_key = g.name AND r.seq IS NOT NULL
                                     AND (r.gate_at IS NULL OR r.gate_at <= carillon.clock()) AND r.start_by > carillon.clock()
                                   ORDER BY r.seq LIMIT 1000) w
            """;

    // Those about whom something was decided, if they still wait. One that another transaction has locked is decided
    // about
    // when the gate is looked at again. The statements below reach them by their place.
    private static final String LOCK_DECIDED = """
            SELECT mine.id, mine.place
              FROM unnest(:projects::text[], :ids::uuid[]) AS e(project, id),
                   LATERAL (SELECT r.id, r.ctid AS place FROM carillon.run r
                             WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id AND r.seq IS NOT NULL
                             ORDER BY r.id LIMIT 1 FOR UPDATE SKIP LOCKED) mine
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
             WHERE ctid = ANY (:places::tid[]) AND coalesce(gate_at, 'infinity') < 'infinity'
            """;

    private static final String DROP =
            """
            WITH gone AS (
              DELETE FROM carillon.run r USING unnest(:places::tid[], :reasons::text[]) AS e(place, why)
               WHERE r.ctid = e.place AND r.seq IS NOT NULL
              RETURNING r.*, e.why)
            """ + HistoryRows.of("gone", "'skipped'").with("reason", "gone.why").from("gone") + """
            RETURNING project, coalesce(planned_at, due_at) AS at, reason,
                      (SELECT s.name FROM carillon.schedule s WHERE s.project = run_history.project AND s.id = run_history.schedule_id) AS name
            """;

    // Whoever is through and waits for a slot or its next attempt ends here; whoever runs is told to. Locked first, all
    // of
    // them: else one that is claimed or let go between the two statements below would be met by neither.
    private static final String LOCK_THROUGH = """
            SELECT g.project, g.name, earlier.place, earlier.idle
              FROM unnest(:projects::text[], :names::text[]) AS g(project, name),
                   LATERAL (SELECT w.ctid AS place, w.owner IS NULL AS idle FROM carillon.run w
                             WHERE w.project = g.project AND w.gate_key BETWEEN g.name AND g.name AND w.seq IS NULL
                             ORDER BY w.gate_key LIMIT 1000 FOR UPDATE) earlier
            """;

    private static final String CANCEL_IDLE = """
            WITH gone AS (DELETE FROM carillon.run WHERE ctid = ANY (:places::tid[]) RETURNING *)
            """
            + HistoryRows.of("gone", "'cancelled'")
                    .with("reason", "'overlap: a newer run took its place'")
                    .from("gone");

    private static final String CANCEL_RUNNING = """
            INSERT INTO carillon.cancel_request (project, run_id, reason)
            SELECT project, id, 'overlap: a newer run took its place' FROM carillon.run WHERE ctid = ANY (:places::tid[])
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

    /** Adds the lanes that have something new, and what was skipped; returns the gates nobody else was at. */
    List<GateName> pass(List<GateName> gates, Collection<Lane> lanes, Collection<ScheduleEvent.Skipped> skipped) {
        record Done(List<GateName> locked, List<Lane> lanes, List<ScheduleEvent.Skipped> skipped, boolean cancelled) {}
        Done done = partitions.completing(() -> database.transaction(session -> {
            List<GateName> locked = GateRepository.lock(session, gates);
            if (locked.isEmpty()) return new Done(locked, List.of(), List.of(), false);
            Map<GateName, Decision> decided = decide(session, locked);
            Set<GateName> seen = Set.copyOf(decided.keySet());
            List<GateName> cancelling = locked.stream()
                    .filter(gate ->
                            decided.containsKey(gate) && decided.get(gate).cancelsEarlier())
                    .toList();
            Set<GateName> occupied = cancelling.isEmpty() ? Set.of() : cancelEarlier(session, cancelling);
            Map<UUID, String> places = lockDecided(session, decided);
            // A gate with a locked run, or one whose earlier runs have all ended since, is looked at again.
            List<GateName> free = locked.stream()
                    .filter(gate -> !seen.contains(gate)
                            || places.keySet().containsAll(written(requireNonNull(decided.get(gate)))))
                    .filter(gate -> !cancelling.contains(gate) || occupied.contains(gate))
                    .toList();
            // Who should pass and is locked decides about the others too.
            decided.values().removeIf(decision -> !places.keySet().containsAll(decision.passes()));
            List<ScheduleEvent.Skipped> dropped = drop(session, decided.values(), places);
            return new Done(free, write(session, decided.values(), places), dropped, !cancelling.isEmpty());
        }));
        lanes.addAll(done.lanes());
        skipped.addAll(done.skipped());
        if (done.cancelled()) cancels.settle();
        return done.locked();
    }

    /** Locks those about whom something is to be written; those that go on waiting as before are not among them. */
    private static Map<UUID, String> lockDecided(Session session, Map<GateName, Decision> decided) throws SQLException {
        Map<UUID, String> projects = new TreeMap<>();
        decided.forEach((gate, decision) -> written(decision).forEach(run -> projects.put(run, gate.project())));
        Map<UUID, String> places = new HashMap<>();
        if (!projects.isEmpty())
            session.query(LOCK_DECIDED)
                    .column("projects", "text", projects.values(), project -> project)
                    .column("ids", "uuid", projects.keySet(), run -> run)
                    .list(row -> places.put(row.uuid("id"), row.text("place")));
        return places;
    }

    /** The runs that a decision changes. */
    private static Set<UUID> written(Decision decision) {
        Set<UUID> runs = new HashSet<>(decision.dropped().keySet());
        runs.addAll(decision.passes());
        runs.addAll(decision.waits());
        return runs;
    }

    private record Line(Overlap policy, long through, List<Waiting> waiting) {
        /** Only those that are new to the line are marked as waiting; the others were. */
        Decision decision() {
            Decision all = OverlapDecider.decide(policy, through, waiting);
            Set<UUID> fresh =
                    waiting.stream().filter(Waiting::fresh).map(Waiting::run).collect(Collectors.toSet());
            List<UUID> waits = all.waits().stream().filter(fresh::contains).toList();
            return new Decision(all.passes(), waits, all.dropped(), all.cancelsEarlier());
        }
    }

    private static Optional<Overlap> known(String policy) {
        return Stream.of(Overlap.values())
                .filter(overlap -> overlap.text().equals(policy))
                .findFirst();
    }

    private static Map<GateName, Decision> decide(Session session, List<GateName> gates) throws SQLException {
        Map<GateName, Line> lines = new LinkedHashMap<>();
        GateRepository.named(session.query(LINE), gates).list(row -> {
            GateName gate = new GateName(row.text("project"), row.text("name"));
            Optional<Overlap> policy = known(row.text("overlap"));
            // A policy of a newer version: nodes that know it decide, and the other gates of the group go on.
            if (policy.isEmpty()) return false;
            long live = row.number("live");
            Line line = lines.computeIfAbsent(gate, g -> new Line(policy.get(), live, new ArrayList<>()));
            return line.waiting().add(new Waiting(row.uuid("id"), row.flag("fresh"), row.flag("droppable")));
        });
        Map<GateName, Decision> decided = new LinkedHashMap<>();
        lines.forEach((gate, line) -> decided.put(gate, line.decision()));
        return decided;
    }

    private static List<ScheduleEvent.Skipped> drop(
            Session session, Collection<Decision> decided, Map<UUID, String> places) throws SQLException {
        Map<UUID, String> dropped = new LinkedHashMap<>();
        decided.forEach(decision -> dropped.putAll(decision.dropped()));
        dropped.keySet().retainAll(places.keySet());
        if (dropped.isEmpty()) return List.of();
        return session.query(DROP)
                .column("places", "tid", dropped.keySet(), places::get)
                .column("reasons", "text", dropped.values(), reason -> reason)
                .list(OverlapGates::skipped);
    }

    private static ScheduleEvent.Skipped skipped(Row row) throws SQLException {
        String name = row.maybeText("name");
        return new ScheduleEvent.Skipped(
                row.text("project"),
                name == null ? "" : name,
                ScheduleEvent.Instants.one(row.instant("at"), row.text("reason")));
    }

    private static List<Lane> write(Session session, Collection<Decision> decided, Map<UUID, String> places)
            throws SQLException {
        List<UUID> passes = new ArrayList<>();
        List<UUID> waits = new ArrayList<>();
        decided.forEach(decision -> {
            passes.addAll(decision.passes());
            waits.addAll(decision.waits());
        });
        waits.retainAll(places.keySet());
        if (!waits.isEmpty())
            session.query(KEEP_WAITING)
                    .column("places", "tid", waits, places::get)
                    .update();
        if (passes.isEmpty()) return List.of();
        return session.query(LET_THROUGH)
                .column("places", "tid", passes, places::get)
                .list(GateRepository::lane);
    }

    /** Returns the gates whose earlier runs are told to stop, and have not yet. */
    private static Set<GateName> cancelEarlier(Session session, List<GateName> gates) throws SQLException {
        List<String> idle = new ArrayList<>();
        List<String> running = new ArrayList<>();
        Set<GateName> occupied = new HashSet<>();
        GateRepository.named(session.query(LOCK_THROUGH), gates).list(row -> {
            if (row.flag("idle")) return idle.add(row.text("place"));
            occupied.add(GateRepository.name(row));
            return running.add(row.text("place"));
        });
        if (!idle.isEmpty())
            session.query(CANCEL_IDLE)
                    .column("places", "tid", idle, place -> place)
                    .update();
        if (!running.isEmpty())
            session.query(CANCEL_RUNNING)
                    .column("places", "tid", running, place -> place)
                    .update();
        session.query(NOTIFY_CANCEL).list(row -> row);
        return occupied;
    }
}
