package io.carillon.internal.postgres.limit;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.BreakerChange;
import io.carillon.internal.store.run.LaneOutcomes;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;

/** The breakers of lanes. A breaker opens when many attempts fail, and a probe decides when it closes. */
final class LaneBreakers {
    private static final String REPORT = """
            INSERT INTO carillon.lane_attempt_stats (queue, project, node, succeeded, failed, at)
            SELECT e.*, carillon.clock()
              FROM (SELECT queue, project, :node::uuid, succeeded, failed
                      FROM unnest(:queues::text[], :projects::text[], :succeededCounts::int[], :failedCounts::int[])
                        AS l(queue, project, succeeded, failed)) e
            ON CONFLICT (queue, project, node) DO UPDATE SET succeeded = excluded.succeeded, failed = excluded.failed,
              at = excluded.at
            """;

    // A breaker opens if half of at least 20 attempts in a minute failed, on all nodes together. A node may not have
    // read yet that an operator has removed the breaker.
    private static final String OPEN_BREAKERS = """
            INSERT INTO carillon.lane AS l (queue, project, breaker, breaker_until)
            SELECT n.queue, n.project, 'open', carillon.clock() + interval '30 s'
              FROM unnest(:queues::text[], :projects::text[]) AS e(queue, project)
              JOIN carillon.lane_attempt_stats n ON n.queue = e.queue AND n.project = e.project
                AND n.at > carillon.clock() - interval '1 min'
              LEFT JOIN carillon.lane setting ON setting.queue = e.queue AND setting.project = e.project
             WHERE setting.breaker_enabled IS DISTINCT FROM false
             GROUP BY n.queue, n.project
            HAVING sum(n.succeeded + n.failed) >= 20 AND 2 * sum(n.failed) >= sum(n.succeeded + n.failed)
            ON CONFLICT (queue, project) DO UPDATE
               SET breaker = 'open', breaker_until = excluded.breaker_until, breaker_failed_probes = 0
             WHERE l.breaker = 'closed' AND l.breaker_enabled IS DISTINCT FROM false
            RETURNING queue, project, breaker_until
            """;

    // Any attempt that ends while the breaker is half-open decides: it is the probe, or counts like one. A node that
    // has not seen the breaker open reports attempts from before the opening, which say nothing about the probe.
    private static final String DECIDE_PROBES = """
            UPDATE carillon.lane l
               SET breaker = CASE WHEN e.failed > 0 THEN 'open' ELSE 'closed' END,
                   breaker_until = CASE WHEN e.failed > 0
                                        THEN carillon.clock()
                                             + least(interval '30 s' * (2 ^ (l.breaker_failed_probes + 1)),
                                                     interval '10 min') END,
                   breaker_failed_probes = CASE WHEN e.failed > 0 THEN least(l.breaker_failed_probes + 1, 10) ELSE 0 END
              FROM unnest(:queues::text[], :projects::text[], :failedCounts::int[], :afterOpening::bool[])
                AS e(queue, project, failed, after_opening)
             WHERE l.queue = e.queue AND l.project = e.project AND l.breaker = 'half-open' AND e.after_opening
            RETURNING l.queue, l.project, l.breaker_until
            """;

    private static final String DELETE_REPORTS = """
            DELETE FROM carillon.lane_attempt_stats n USING unnest(:queues::text[], :projects::text[])
              AS e(queue, project)
             WHERE n.queue = e.queue AND n.project = e.project
            """;

    private final Database database;

    LaneBreakers(Database database) {
        this.database = database;
    }

    /** Adds what a node observed, and returns the breakers that opened or closed. */
    List<BreakerChange> report(UUID node, List<LaneOutcomes> loads) {
        return database.single(session -> {
            List<LaneOutcomes> ordered = loads.stream()
                    .sorted(Comparator.comparing(
                                    (LaneOutcomes load) -> load.lane().queue())
                            .thenComparing(load -> load.lane().project()))
                    .toList();
            bindLanes(session.query(REPORT).uuid("node", node), ordered)
                    .column("succeededCounts", "int4", ordered, LaneOutcomes::succeeded)
                    .column("failedCounts", "int4", ordered, LaneOutcomes::failed)
                    .update();
            List<BreakerChange> changes = new ArrayList<>(bindLanes(session.query(DECIDE_PROBES), ordered)
                    .column("failedCounts", "int4", ordered, LaneOutcomes::failed)
                    .column("afterOpening", "bool", ordered, LaneOutcomes::afterOpening)
                    .list(LaneBreakers::readChange));
            List<Lane> failing = ordered.stream()
                    .filter(load -> load.failed() > 0)
                    .map(LaneOutcomes::lane)
                    .toList();
            if (!failing.isEmpty())
                changes.addAll(LaneLimits.bindLanes(session.query(OPEN_BREAKERS), failing)
                        .list(LaneBreakers::readChange));
            List<Lane> changed = changes.stream().map(BreakerChange::lane).toList();
            if (!changed.isEmpty())
                LaneLimits.bindLanes(session.query(DELETE_REPORTS), changed).update();
            return changes;
        });
    }

    private static Query bindLanes(Query query, List<LaneOutcomes> loads) throws SQLException {
        return query.column("queues", "text", loads, load -> load.lane().queue())
                .column("projects", "text", loads, load -> load.lane().project());
    }

    private static BreakerChange readChange(Row row) throws SQLException {
        return new BreakerChange(GateRepository.readLane(row), row.maybeInstant("breaker_until"));
    }
}
