package io.carillon.internal.postgres.run;

import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.attempt.AttemptRows;
import io.carillon.internal.run.Gate;
import io.carillon.internal.run.NewRun;
import io.carillon.run.RunId;
import java.sql.SQLException;
import java.util.List;

/**
 * The store of new runs that wait behind a gate: parked, with their position in its order. {@link NewRunRepository}
 * stores runs without a gate.
 */
final class GatedRunInsert {
    // The lock of a FIFO key is held until the end of the transaction, so that gate_position has the order
    // of the commits.
    private static final String INSERT_GATED = """
            WITH locked AS MATERIALIZED (
              SELECT count(pg_advisory_xact_lock(l.lock)) AS locks
                FROM (SELECT DISTINCT hashtextextended('carillon.fifo ' || f.project || ' ' || f.gate, 0) AS lock
                        FROM unnest(:projects::text[], :gates::text[]) AS f(project, gate)
                       WHERE f.gate LIKE 'fifo:%' ORDER BY 1) l),
            stored AS (
            """
            + NewRunRepository.RUN_INSERT.behindGate("e.gate", "e.gate_limit").from("""
                locked,
                     unnest(:projects::text[], :ids::uuid[], :queues::text[], :priorities::smallint[], :origins::text[],
                       :targets::text[],
                            :names::text[], :codecs::text[], :payloads::bytea[], :keys::text[], :schedules::uuid[],
                            :instants::timestamptz[],
                            :delays::float8[], :headerTexts::text[], :policies::text[], :parents::uuid[],
                            :gates::text[], :gateLimits::int[])
                       AS e(project, id, queue, priority, origin, target, target_name, codec, payload, key, schedule,
                         instant, delay, headers, policy, parent, gate, gate_limit),
                     LATERAL (SELECT coalesce(e.instant, carillon.clock() + make_interval(secs => e.delay)) AS at) due
               WHERE locked.locks >= 0
              ON CONFLICT DO NOTHING RETURNING id, project, gate_key),
            """) + """
            notifications AS (
              SELECT pg_notify('carillon', 'gate ' || project || ' ' || gate_key) FROM stored WHERE :notifyNodes
                GROUP BY project, gate_key)
            SELECT id, (SELECT count(*) FROM notifications) FROM stored
            """;

    // The same locks in the same order, for calls of several statements: each statement alone would start
    // the order again.
    private static final String LOCK_FIFO_KEYS = """
            SELECT count(pg_advisory_xact_lock(l.lock)) AS locks
              FROM (SELECT DISTINCT hashtextextended('carillon.fifo ' || f.project || ' ' || f.gate, 0) AS lock
                      FROM unnest(:projects::text[], :gates::text[]) AS f(project, gate) ORDER BY 1) l
            """;

    private GatedRunInsert() {}

    static boolean isFifo(NewRun run) {
        Gate gate = run.gate();
        return gate != null && gate.name().startsWith("fifo:");
    }

    /** Locks all FIFO keys of these runs until the end of the transaction. */
    static void lockFifoKeys(Session session, List<NewRun> runs) throws SQLException {
        record Line(String project, String gate) {}
        List<Line> keys = runs.stream()
                .filter(GatedRunInsert::isFifo)
                .map(run -> new Line(run.lane().project(), gate(run).name()))
                .distinct()
                .toList();
        if (keys.isEmpty()) return;
        session.query(LOCK_FIFO_KEYS)
                .column("projects", "text", keys, Line::project)
                .column("gates", "text", keys, Line::gate)
                .list(row -> row.number("locks"));
    }

    static List<RunId> insert(Session session, List<NewRun> runs, boolean notifyNodes) throws SQLException {
        return NewRunRepository.bindRuns(session.query(INSERT_GATED), runs)
                .column("gates", "text", runs, run -> gate(run).name())
                .column("gateLimits", "int4", runs, run -> gate(run).limit())
                .flag("notifyNodes", notifyNodes)
                .list(row -> AttemptRows.runId(row, "id"));
    }

    private static Gate gate(NewRun run) {
        Gate gate = run.gate();
        if (gate == null) throw new IllegalArgumentException("run " + run.id() + " has no gate");
        return gate;
    }
}
