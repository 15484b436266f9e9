package io.carillon.internal.postgres.run;

import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.attempt.AttemptRows;
import io.carillon.internal.run.Gate;
import io.carillon.internal.run.NewRun;
import io.carillon.run.Enqueue;
import io.carillon.run.RunId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The store of new runs that wait for the end of other runs: parked, with one row for each awaited run. A run with a
 * key gets its place at the gate when it no longer waits.
 */
final class WaitingRunInsert {
    private static final String INSERT_WAITING = "WITH stored AS ("
            + NewRunRepository.RUN_INSERT
                    .with("gate_key", "e.gate")
                    .with("gate_limit", "e.gate_limit")
                    .with("gate_position", "CASE WHEN e.gate IS NOT NULL THEN 9223372036854775807 END")
                    .with("ready_at", "'infinity'")
                    .with("parked", "'run-wait'")
                    .from("""
                unnest(:projects::text[], :ids::uuid[], :queues::text[], :priorities::smallint[], :origins::text[],
                       :targets::text[], :names::text[], :codecs::text[], :payloads::bytea[], :keys::text[],
                       :schedules::uuid[], :instants::timestamptz[], :delays::float8[], :headerTexts::text[],
                       :policies::text[], :parents::uuid[], :gates::text[], :gateLimits::int[])
                  AS e(project, id, queue, priority, origin, target, target_name, codec, payload, key, schedule,
                       instant, delay, headers, policy, parent, gate, gate_limit),
                     LATERAL (SELECT carillon.clock() AS at) due
              ON CONFLICT DO NOTHING RETURNING id, project),
            """)
            + """
            waits AS (
              INSERT INTO carillon.run_wait (project, run_id, awaited_id, on_failure)
              SELECT stored.project, stored.id, w.awaited_id, w.on_failure
                FROM unnest(:waiting::uuid[], :awaited::uuid[], :onFailures::text[]) AS w(id, awaited_id, on_failure)
                JOIN stored ON stored.id = w.id
              ON CONFLICT DO NOTHING),
            notifications AS (
              SELECT pg_notify('carillon', 'wait ' || project || ' ' || id || ' '
                       || mod(pg_current_xact_id()::text::bigint, 100000)) FROM stored WHERE :notifyNodes LIMIT 100)
            SELECT id, (SELECT count(*) FROM notifications) FROM stored
            """;

    private WaitingRunInsert() {}

    static List<RunId> insert(Session session, List<NewRun> runs, boolean notifyNodes) throws SQLException {
        record Wait(RunId waiting, RunId awaited, String onFailure) {}
        List<Wait> waits = new ArrayList<>();
        for (NewRun run : runs)
            if (run.due() instanceof Enqueue.Due.AfterRuns after)
                for (RunId awaited : after.runs()) waits.add(new Wait(run.id(), awaited, text(after.onFailure())));
        return NewRunRepository.bindRuns(session.query(INSERT_WAITING), runs)
                .column("gates", "text", runs, run -> {
                    Gate gate = run.gate();
                    return gate == null ? null : gate.name();
                })
                .column("gateLimits", "int4", runs, run -> {
                    Gate gate = run.gate();
                    return gate == null ? null : gate.limit();
                })
                .column("waiting", "uuid", waits, wait -> wait.waiting().value())
                .column("awaited", "uuid", waits, wait -> wait.awaited().value())
                .column("onFailures", "text", waits, Wait::onFailure)
                .flag("notifyNodes", notifyNodes)
                .list(row -> AttemptRows.runId(row, "id"));
    }

    private static String text(Enqueue.OnFailure onFailure) {
        return onFailure.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
