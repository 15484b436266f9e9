package io.carillon.internal.postgres.limit;

import io.carillon.internal.jdbc.DatabaseTime;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.GateName;
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
public final class RateGates {
    // The promoter is the node that promoted the gate first; it promotes again when the time has come. A node that has
    // not done so for two seconds is no longer the promoter. A twentieth of the period, at most 250 ms, is added,
    // because the handler starts a moment after the claim.
    private static final String PASS = """
            WITH gate_state AS MATERIALIZED (
              SELECT g.project, g.name, g.window_with_margin, head.gate_limit, head.arrived, free.unclaimed,
                     array(SELECT s FROM unnest(k.recent_starts) AS s
                            WHERE s > carillon.clock() - g.window_with_margin
                              AND s <= carillon.clock() + interval '5 s')
                       || array_fill(carillon.clock(),
                                     ARRAY[greatest(coalesce(k.passed_unclaimed, 0) - free.unclaimed, 0)::int])
                       AS recent_starts,
                     CASE WHEN k.checked_at > carillon.clock() - interval '2 s'
                           AND k.checked_at <= carillon.clock() + interval '5 s'
                          THEN k.promoter_id ELSE :promoter::uuid END AS promoter_id, k.checked_at
                FROM (SELECT project, name,
                             window_length + least(window_length / 20, interval '250 ms') AS window_with_margin
                        FROM (SELECT project, name, split_part(name, ':', 2)::bigint * interval '1 ms' AS window_length
                                FROM unnest(:projects::text[], :names::text[]) AS n(project, name)) n) g
                LEFT JOIN LATERAL (SELECT coalesce(r.gate_limit, 1) AS gate_limit,
                                          r.gate_arrival_at IS NULL OR r.gate_arrival_at <= carillon.clock() AS arrived
                                     FROM carillon.run r
                                    WHERE r.project = g.project AND r.gate_key = g.name
                                      AND r.gate_position < 9223372036854775807
                                    ORDER BY r.gate_position LIMIT 1) head ON true
                CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE owner IS NULL AND ready_at <> 'infinity') AS unclaimed
                                      FROM (SELECT r.owner, r.ready_at FROM carillon.run r
                                             WHERE r.project = g.project AND r.gate_key BETWEEN g.name AND g.name
                                               AND r.gate_position IS NULL
                                             ORDER BY r.gate_key LIMIT 1000000) passed_runs) free
                LEFT JOIN LATERAL (SELECT * FROM carillon.gate
                                    WHERE project = g.project AND kind = 'rate' AND key = g.name LIMIT 1) k ON true),
            capacity AS MATERIALIZED (
              SELECT gate_state.*, recent.first,
                greatest(gate_state.gate_limit - gate_state.unclaimed - recent.count, 0) AS runs
                FROM gate_state, LATERAL (SELECT count(*) AS count, min(s) AS first
                  FROM unnest(gate_state.recent_starts) AS s) recent),
            waiting AS (
              SELECT capacity.project, capacity.name, next.tid,
                     bool_and(next.arrived) OVER (PARTITION BY capacity.project, capacity.name
                                                  ORDER BY next.waiting_rank) AS may_pass
                FROM capacity, LATERAL (SELECT w.*, row_number() OVER (ORDER BY w.gate_position) AS waiting_rank
                                      FROM (SELECT r.ctid AS tid, r.gate_position,
                                                   r.gate_arrival_at IS NULL
                                                   OR r.gate_arrival_at <= carillon.clock() AS arrived
                                              FROM carillon.run r
                                             WHERE r.project = capacity.project AND r.gate_key = capacity.name
                                               AND r.gate_position < 9223372036854775807
                                             ORDER BY r.gate_position LIMIT coalesce(capacity.runs, 0)) w) next),
            passed AS (
              UPDATE carillon.run SET\s""" + GateRepository.MARK_PASSED + GateRepository.WHERE_UNLOCKED + """
              RETURNING queue, project, gate_key),
            counted AS (
              SELECT project, gate_key AS name, count(*)::int AS runs, array_agg(DISTINCT queue) AS queues FROM passed
                GROUP BY project, gate_key),
            next_state AS (
              SELECT capacity.*, counted.queues, capacity.unclaimed + coalesce(counted.runs, 0) AS unclaimed_after,
                     coalesce(allowed.runs, 0) > coalesce(counted.runs, 0) AS incomplete
                FROM capacity LEFT JOIN counted USING (project, name)
                LEFT JOIN (SELECT project, name, count(*) AS runs FROM waiting WHERE may_pass
                  GROUP BY project, name) allowed USING (project, name)),
            saved AS (
              INSERT INTO carillon.gate (project, kind, key, passed_unclaimed, recent_starts, promoter_id, checked_at)
              SELECT project, 'rate', name, unclaimed_after, recent_starts, promoter_id,
                     CASE WHEN promoter_id = :promoter THEN carillon.clock() ELSE checked_at END
                FROM next_state WHERE gate_limit IS NOT NULL OR unclaimed_after > 0 OR cardinality(recent_starts) > 0
              ON CONFLICT (project, kind, key) DO UPDATE
                 SET passed_unclaimed = excluded.passed_unclaimed, recent_starts = excluded.recent_starts,
                     promoter_id = excluded.promoter_id, checked_at = excluded.checked_at)
            SELECT project, name, queues, incomplete, promoter_id = :promoter AS is_promoter,
                   extract(epoch FROM CASE WHEN unclaimed_after > 0 THEN window_with_margin / 20
                     WHEN arrived THEN first + window_with_margin - carillon.clock() END)::float8 AS wait
              FROM next_state
            """;

    private static final Duration SHORTEST_WAIT = Duration.ofMillis(20);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

    private final UUID promoterId = UUID.randomUUID();

    /**
     * Lets the runs that may start pass, adds their lanes, and, if this node is the promoter, adds when to promote the
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
        List<GateReading> states = GateRepository.bindGates(session.query(PASS).uuid("promoter", promoterId), gates)
                .list(row -> new GateReading(
                        new GateName(row.text("project"), row.text("name")),
                        row.texts("queues"),
                        row.flag("incomplete"),
                        row.flag("is_promoter") ? row.maybeReal("wait") : null));
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
