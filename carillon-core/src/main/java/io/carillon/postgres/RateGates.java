package io.carillon.postgres;

import io.carillon.internal.jdbc.DatabaseTime;
import io.carillon.internal.jdbc.Session;
import io.carillon.run.Lane;
import io.carillon.store.GateName;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Gates that only time opens: in any period of a given length, at most a given number of runs of a rate key start. A
 * run that has passed and is not claimed yet counts as if it started now. Once its claim is seen, that time is recorded
 * as its start, which is a little late and never early. So no period can contain more starts than the limit, however
 * long a run waits for its slot after it has passed.
 */
final class RateGates {
    // The driver is the node that promoted the gate first; it promotes again when the time has come. A node that has
    // not done so for two seconds is no longer the driver. A twentieth of the period, at most 250 ms, is added, because
    // the handler starts a moment after the claim.
    private static final String PASS = """
            WITH seen AS MATERIALIZED (
              SELECT g.project, g.name, g.per, head.most, head.here, free.unclaimed,
                     array(SELECT s FROM unnest(k.starts) AS s WHERE s > carillon.clock() - g.per AND s <= carillon.clock() + interval '5 s')
                       || array_fill(carillon.clock(), ARRAY[greatest(coalesce(k.live, 0) - free.unclaimed, 0)::int]) AS starts,
                     CASE WHEN k.refilled_at > carillon.clock() - interval '2 s' AND k.refilled_at <= carillon.clock() + interval '5 s'
                          THEN k.driver ELSE :driver::uuid END AS driver, k.refilled_at
                FROM (SELECT project, name, stretch + least(stretch / 20, interval '250 ms') AS per
                        FROM (SELECT project, name, split_part(name, ':', 2)::bigint * interval '1 ms' AS stretch
                                FROM unnest(:projects::text[], :names::text[]) AS n(project, name)) n) g
                LEFT JOIN LATERAL (SELECT coalesce(r.gate_max, 1) AS most, r.gate_at IS NULL OR r.gate_at <= carillon.clock() AS here
                                     FROM carillon.run r
                                    WHERE r.project = g.project AND r.gate_key = g.name AND r.seq < 9223372036854775807
                                    ORDER BY r.seq LIMIT 1) head ON true
                CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE owner IS NULL AND ready_at <> 'infinity') AS unclaimed
                                      FROM (SELECT r.owner, r.ready_at FROM carillon.run r
                                             WHERE r.project = g.project AND r.gate_key BETWEEN g.name AND g.name AND r.seq IS NULL
                                             ORDER BY r.gate_key LIMIT 1000000) through) free
                LEFT JOIN LATERAL (SELECT * FROM carillon.gate
                                    WHERE project = g.project AND kind = 'rate' AND key = g.name LIMIT 1) k ON true),
            room AS MATERIALIZED (
              SELECT seen.*, recent.first, greatest(seen.most - seen.unclaimed - recent.count, 0) AS runs
                FROM seen, LATERAL (SELECT count(*) AS count, min(s) AS first FROM unnest(seen.starts) AS s) recent),
            line AS (
              SELECT room.project, room.name, next.tid, bool_and(next.here) OVER (PARTITION BY room.project, room.name ORDER BY next.place) AS passes
                FROM room, LATERAL (SELECT w.*, row_number() OVER (ORDER BY w.seq) AS place
                                      FROM (SELECT r.ctid AS tid, r.seq, r.gate_at IS NULL OR r.gate_at <= carillon.clock() AS here
                                              FROM carillon.run r
                                             WHERE r.project = room.project AND r.gate_key = room.name AND r.seq < 9223372036854775807
                                             ORDER BY r.seq LIMIT coalesce(room.runs, 0)) w) next),
            passed AS (
              UPDATE carillon.run SET\s""" + GateRepository.MARK_PASSED + GateRepository.WHERE_UNLOCKED + """
              RETURNING queue, project, gate_key),
            counted AS (
              SELECT project, gate_key AS name, count(*)::int AS runs, array_agg(DISTINCT queue) AS queues FROM passed GROUP BY project, gate_key),
            now AS (
              SELECT room.*, counted.queues, room.unclaimed + coalesce(counted.runs, 0) AS unseen,
                     coalesce(allowed.runs, 0) > coalesce(counted.runs, 0) AS incomplete
                FROM room LEFT JOIN counted USING (project, name)
                LEFT JOIN (SELECT project, name, count(*) AS runs FROM line WHERE passes GROUP BY project, name) allowed USING (project, name)),
            kept AS (
              INSERT INTO carillon.gate (project, kind, key, live, starts, driver, refilled_at)
              SELECT project, 'rate', name, unseen, starts, driver,
                     CASE WHEN driver = :driver THEN carillon.clock() ELSE refilled_at END
                FROM now WHERE most IS NOT NULL OR unseen > 0 OR cardinality(starts) > 0
              ON CONFLICT (project, kind, key) DO UPDATE
                 SET live = excluded.live, starts = excluded.starts, driver = excluded.driver,
                     refilled_at = excluded.refilled_at)
            SELECT project, name, queues, incomplete, driver = :driver AS driving,
                   extract(epoch FROM CASE WHEN unseen > 0 THEN per / 20 WHEN here THEN first + per - carillon.clock() END)::float8 AS wait
              FROM now
            """;

    private static final Duration SHORTEST_WAIT = Duration.ofMillis(20);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

    private final UUID promoterId = UUID.randomUUID();

    /**
     * Lets the runs that may start pass, adds their lanes, and, if this node is the driver, adds when to promote the
     * gate again. Gates with a locked run that may start are busy. The caller holds the gates' locks.
     */
    void pass(
            Session session,
            List<GateName> gates,
            Set<Lane> lanes,
            Map<GateName, Duration> retryAfter,
            Collection<GateName> busy)
            throws SQLException {
        record GateReading(
                GateName gate,
                List<String> queues,
                boolean incomplete,
                @Nullable Double seconds) {}
        List<GateReading> states = GateRepository.bindGates(session.query(PASS).uuid("driver", promoterId), gates)
                .list(row -> new GateReading(
                        new GateName(row.text("project"), row.text("name")),
                        row.texts("queues"),
                        row.flag("incomplete"),
                        row.flag("driving") ? row.maybeReal("wait") : null));
        for (GateReading reading : states) {
            for (String queue : reading.queues())
                lanes.add(new Lane(queue, reading.gate().project()));
            if (reading.incomplete()) busy.add(reading.gate());
            if (reading.seconds() != null) retryAfter.put(reading.gate(), bounded(reading.seconds()));
        }
    }

    private static Duration bounded(double seconds) {
        Duration wait = DatabaseTime.duration(Math.max(0, seconds));
        if (wait.compareTo(SHORTEST_WAIT) < 0) return SHORTEST_WAIT;
        return wait.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : wait;
    }
}
