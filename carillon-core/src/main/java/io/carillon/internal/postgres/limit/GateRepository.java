package io.carillon.internal.postgres.limit;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.GateName;
import io.carillon.internal.store.run.GateStore;
import io.carillon.spi.ScheduleEvent;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The store of gates, which lets runs pass. Under a gate's lock, a second statement counts the runs that have passed:
 * in one statement with the lock, the count would come from a snapshot that is older than the lock.
 */
public final class GateRepository implements GateStore {
    private static final int GROUP_SIZE = 200;

    private static final String LOCK = """
            SELECT g.project, g.name FROM unnest(:projects::text[], :names::text[]) AS g(project, name)
             WHERE pg_try_advisory_xact_lock(hashtextextended('carillon.gate ' || g.project || ' ' || g.name, 0))
            """;

    // A run that was isolated when no live node had its handler is isolated again after it has passed.
    static final String MARK_PASSED = """
            gate_position = NULL, gate_arrival_at = NULL, was_isolated = NULL,
            parked = CASE WHEN was_isolated THEN 'isolated' END,
            ready_at = CASE WHEN was_isolated THEN 'infinity' ELSE carillon.clock() END
            """;

    // The found runs that no other transaction has locked: waiting for one run would delay all gates of the statement.
    // Both statements that use this clause find the gates with skipped runs by comparing counts.
    static final String WHERE_UNLOCKED = """
             WHERE gate_position < 9223372036854775807 AND ctid = any(array(
               SELECT ctid FROM carillon.run
                WHERE gate_position < 9223372036854775807 AND ctid = any(array(SELECT tid FROM waiting WHERE may_pass))
                  FOR UPDATE SKIP LOCKED))
            """;

    // Runs pass in the order of gate_position, and no run passes another run that must wait: a FIFO key stops while its
    // first run is not due. The statement also returns the gates where a run that should pass is locked, has ended or
    // has moved meanwhile: they are promoted again.
    private static final String PASS = """
            WITH waiting AS (
              SELECT g.project, g.name, next.tid,
                     bool_and(next.arrived AND active.runs + next.waiting_rank <= next.gate_limit)
                       OVER (PARTITION BY g.project, g.name ORDER BY next.waiting_rank) AS may_pass
                FROM unnest(:projects::text[], :names::text[]) AS g(project, name)
                CROSS JOIN LATERAL (SELECT coalesce(r.gate_limit, 1) AS gate_limit FROM carillon.run r
                                     WHERE r.project = g.project AND r.gate_key = g.name
                                       AND r.gate_position < 9223372036854775807
                                     ORDER BY r.gate_position LIMIT 1) head
                CROSS JOIN LATERAL (SELECT count(*) AS runs
                                      FROM (SELECT 1 FROM carillon.run r
                                             WHERE r.project = g.project AND r.gate_key = g.name
                                               AND r.gate_position IS NULL
                                             LIMIT head.gate_limit) passed_runs) active
                CROSS JOIN LATERAL (SELECT w.*, row_number() OVER (ORDER BY w.gate_position) AS waiting_rank
                                      FROM (SELECT r.ctid AS tid, r.gate_position,
                                        coalesce(r.gate_limit, 1) AS gate_limit,
                                                   r.gate_arrival_at IS NULL
                                                     OR r.gate_arrival_at <= carillon.clock() AS arrived
                                              FROM carillon.run r
                                             WHERE r.project = g.project AND r.gate_key = g.name
                                               AND r.gate_position < 9223372036854775807
                                             ORDER BY r.gate_position
                                               LIMIT greatest(head.gate_limit - active.runs, 0)) w) next),
            passed AS (
              UPDATE carillon.run SET\s""" + MARK_PASSED + WHERE_UNLOCKED + """
              RETURNING queue, project, gate_key)
            SELECT DISTINCT queue, project, NULL AS name FROM passed
            UNION ALL
            SELECT NULL, project, name
              FROM (SELECT project, name, 1 AS missing FROM waiting WHERE may_pass
                    UNION ALL SELECT project, gate_key, -1 FROM passed) counted
             GROUP BY project, name HAVING sum(missing) > 0
            """;

    // The runs that arrive within two seconds: the promoter polls every second, so it finds the rest in time.
    private static final String ARRIVING_SOON = """
            SELECT t.now, head.* FROM (SELECT carillon.clock() AS now) t
              LEFT JOIN LATERAL (SELECT project, gate_key, gate_arrival_at FROM carillon.run
                                  WHERE gate_arrival_at <= carillon.clock() + interval '2 s'
                                    AND start_by > carillon.clock()
                                  ORDER BY gate_arrival_at LIMIT :limit) head ON true
            """;

    // Ticks keep gate_arrival_at until their overlap is decided, so that a later promotion sees that it is undecided.
    private static final String MARK_ARRIVED = """
            UPDATE carillon.run SET gate_arrival_at = NULL
             WHERE gate_arrival_at IS NOT NULL AND ctid = any(array(
               SELECT ctid FROM carillon.run WHERE gate_arrival_at <= carillon.clock() AND gate_key NOT LIKE 'overlap:%'
                ORDER BY gate_arrival_at LIMIT :limit FOR UPDATE SKIP LOCKED))
            """;

    // Reads the index from gate to gate, however many runs wait at each. A rate gate has one promoter, so it
    // counts as open only if no node has promoted it for two seconds.
    private static final String FIND_OPEN = """
            WITH RECURSIVE gate AS (
              (SELECT r.project, r.gate_key AS name FROM carillon.run r
                WHERE r.gate_key IS NOT NULL AND (r.project, r.gate_key) > (:project::text, :name::text)
                ORDER BY r.project, r.gate_key LIMIT 1)
              UNION ALL
              SELECT next.project, next.name
                FROM gate, LATERAL (SELECT r.project, r.gate_key AS name FROM carillon.run r
                                     WHERE r.gate_key IS NOT NULL
                                       AND (r.project, r.gate_key) > (gate.project, gate.name)
                                     ORDER BY r.project, r.gate_key LIMIT 1) next)
            SELECT g.project, g.name,
                   coalesce(head.arrived AND CASE WHEN g.name LIKE 'rate:%' THEN idle.idle
                     ELSE active.runs < head.gate_limit END, false) AS open
              FROM (SELECT * FROM gate LIMIT :limit) g
              LEFT JOIN LATERAL (SELECT coalesce(r.gate_limit, 1) AS gate_limit,
                                        r.gate_arrival_at IS NULL OR r.gate_arrival_at <= carillon.clock() AS arrived
                                   FROM carillon.run r
                                  WHERE r.project = g.project AND r.gate_key = g.name
                                    AND r.gate_position < 9223372036854775807
                                  ORDER BY r.gate_position LIMIT 1) head ON true
              LEFT JOIN LATERAL (SELECT count(*) AS runs
                                   FROM (SELECT 1 FROM carillon.run r
                                          WHERE r.project = g.project AND r.gate_key = g.name
                                            AND r.gate_position IS NULL
                                          LIMIT head.gate_limit) passed_runs) active ON true
              LEFT JOIN LATERAL (SELECT NOT EXISTS (SELECT 1 FROM carillon.gate k
                                                     WHERE k.project = g.project AND k.kind = 'rate' AND k.key = g.name
                                                       AND k.checked_at > carillon.clock() - interval '2 s')
                                        AS idle) idle ON true
             ORDER BY g.project, g.name
            """;

    private final Database database;
    private final OverlapGates overlaps;
    private final RateGates rates;

    public GateRepository(Database database, OverlapGates overlaps, RateGates rates) {
        this.database = database;
        this.overlaps = overlaps;
        this.rates = rates;
    }

    @Override
    public PromotionResult promote(Collection<GateName> gates) {
        Set<Lane> lanes = new LinkedHashSet<>();
        List<GateName> busy = new ArrayList<>();
        List<ScheduleEvent.Skipped> skipped = new ArrayList<>();
        Map<GateName, Duration> retryAfter = new HashMap<>();
        List<GateName> overlapGates =
                gates.stream().filter(OverlapGates::isOverlapGate).toList();
        List<GateName> rateGates = gates.stream().filter(GateName::isTimeBased).toList();
        List<GateName> countedGates = gates.stream()
                .filter(gate -> !OverlapGates.isOverlapGate(gate) && !gate.isTimeBased())
                .toList();
        inGroups(
                countedGates,
                busy,
                group -> passUnderLock(
                        group,
                        (session, mine) -> bindGates(session.query(PASS), mine)
                                .list(row -> row.maybeText("queue") == null
                                        ? busy.add(readGateName(row))
                                        : lanes.add(readLane(row)))));
        inGroups(
                rateGates,
                busy,
                group -> passUnderLock(group, (session, mine) -> rates.pass(session, mine, lanes, retryAfter, busy)));
        inGroups(overlapGates, busy, group -> overlaps.pass(group, lanes, skipped));
        return new PromotionResult(List.copyOf(lanes), busy, skipped, retryAfter);
    }

    /**
     * Calls {@code pass} for groups of gates; gates that it does not return were locked by another node and are busy.
     */
    private static void inGroups(
            List<GateName> gates, List<GateName> busy, Function<List<GateName>, List<GateName>> pass) {
        for (int from = 0; from < gates.size(); from += GROUP_SIZE) {
            List<GateName> group = gates.subList(from, Math.min(gates.size(), from + GROUP_SIZE));
            List<GateName> mine = pass.apply(group);
            group.stream().filter(gate -> !mine.contains(gate)).forEach(busy::add);
        }
    }

    @FunctionalInterface
    private interface UnderLock {
        void pass(Session session, List<GateName> mine) throws SQLException;
    }

    private List<GateName> passUnderLock(List<GateName> group, UnderLock work) {
        return database.transaction(session -> {
            List<GateName> mine = lock(session, group);
            if (!mine.isEmpty()) work.pass(session, mine);
            return mine;
        });
    }

    static Lane readLane(Row row) throws SQLException {
        return new Lane(row.text("queue"), row.text("project"));
    }

    /** Locks the gates that no other transaction has locked, until the end of the transaction, and returns them. */
    static List<GateName> lock(Session session, List<GateName> gates) throws SQLException {
        return bindGates(session.query(LOCK), gates).list(GateRepository::readGateName);
    }

    static GateName readGateName(Row row) throws SQLException {
        return new GateName(row.text("project"), row.text("name"));
    }

    static Query bindGates(Query query, List<GateName> gates) throws SQLException {
        return query.column("projects", "text", gates, GateName::project)
                .column("names", "text", gates, GateName::name);
    }

    private record ArrivingRun(
            Instant now, @Nullable GateName gate, @Nullable Instant at) {}

    @Override
    public Arrivals findArrivals(int limit) {
        return database.single(session -> {
            List<ArrivingRun> head = session.query(ARRIVING_SOON)
                    .number("limit", limit)
                    .list(row -> {
                        String project = row.maybeText("project");
                        return new ArrivingRun(
                                row.instant("now"),
                                project == null ? null : new GateName(project, row.text("gate_key")),
                                row.maybeInstant("gate_arrival_at"));
                    });
            Instant now = head.get(0).now();
            Set<GateName> arrived = new LinkedHashSet<>();
            Instant next = Instant.MAX;
            for (ArrivingRun one : head) {
                if (one.gate() == null || one.at() == null) continue;
                if (!one.at().isAfter(now)) arrived.add(one.gate());
                else if (one.at().isBefore(next)) next = one.at();
            }
            if (arrived.stream().anyMatch(gate -> !OverlapGates.isOverlapGate(gate)))
                session.query(MARK_ARRIVED).number("limit", limit).update();
            return new Arrivals(List.copyOf(arrived), now, next);
        });
    }

    @Override
    public OpenGates findOpenGates(@Nullable GateName after, int limit) {
        record Seen(GateName gate, boolean open) {}
        List<Seen> seen = database.single(session -> session.query(FIND_OPEN)
                .text("project", after == null ? "" : after.project())
                .text("name", after == null ? "" : after.name())
                .number("limit", limit)
                .list(row -> new Seen(readGateName(row), row.flag("open"))));
        return new OpenGates(
                seen.stream().filter(Seen::open).map(Seen::gate).toList(),
                seen.size() < limit ? null : seen.get(seen.size() - 1).gate());
    }
}
