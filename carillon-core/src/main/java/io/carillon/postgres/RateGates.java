package io.carillon.postgres;

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
 * Gates that only the time opens: of the runs of a rate key at most so many start in any stretch of so long. What passed and was not claimed yet counts as if
 * it started now; when it is seen to have been claimed, that is put down as its start, which is a little late and never early. So no stretch can hold
 * more starts than the limit, however long a run waits for its slot after it has passed.
 */
final class RateGates {
    // The driver is whoever looked first, and looks again when the time has come; who stays away for two seconds is
    // none
    // any more. A twentieth of the stretch, a quarter of a second at most, is added: between the claim and the
    // handler's
    // start lies a moment.
    private static final String LET_START = """
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
              UPDATE carillon.run SET\s""" + GateRepository.THROUGH + GateRepository.UNLOCKED + """
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

    private static final Duration SOONEST = Duration.ofMillis(20);
    private static final Duration LATEST = Duration.ofSeconds(1);

    private final UUID driver = UUID.randomUUID();

    /**
     * Lets through what may start, adds the lanes of it, and says when to come again, if that is our part. Gates where a run that may start is locked are busy.
     * Under the gates' locks.
     */
    void pass(
            Session session,
            List<GateName> gates,
            Set<Lane> lanes,
            Map<GateName, Duration> again,
            Collection<GateName> busy)
            throws SQLException {
        record Look(
                GateName gate,
                List<String> queues,
                boolean incomplete,
                @Nullable Double seconds) {}
        List<Look> looks = GateRepository.named(session.query(LET_START).uuid("driver", driver), gates)
                .list(row -> new Look(
                        new GateName(row.text("project"), row.text("name")),
                        row.texts("queues"),
                        row.flag("incomplete"),
                        row.flag("driving") ? row.maybeReal("wait") : null));
        for (Look look : looks) {
            for (String queue : look.queues())
                lanes.add(new Lane(queue, look.gate().project()));
            if (look.incomplete()) busy.add(look.gate());
            if (look.seconds() != null) again.put(look.gate(), bounded(look.seconds()));
        }
    }

    private static Duration bounded(double seconds) {
        Duration wait = DatabaseTime.duration(Math.max(0, seconds));
        if (wait.compareTo(SOONEST) < 0) return SOONEST;
        return wait.compareTo(LATEST) > 0 ? LATEST : wait;
    }
}
