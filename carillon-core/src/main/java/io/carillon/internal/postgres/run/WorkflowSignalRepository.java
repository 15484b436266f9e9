package io.carillon.internal.postgres.run;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.postgres.attempt.AttemptRows;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.GateName;
import io.carillon.internal.store.run.RunWaitStore.Resolution;
import io.carillon.internal.store.run.RunWaitStore.RunKey;
import io.carillon.internal.store.run.WorkflowSignalStore;
import io.carillon.run.RunId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The store of signals to workflows. */
public final class WorkflowSignalRepository implements WorkflowSignalStore {
    private static final UUID FIRST_ID = new UUID(0, 0);

    // The run is read and not locked: a sender's transaction may stay open for hours. A signal that commits while the
    // run ends is removed with it. If no live node has the handler, it may be a workflow.
    private static final String SEND = """
            WITH live AS (
              SELECT r.project, r.id, r.target_name FROM carillon.run r
               WHERE r.project = :project AND r.id BETWEEN :run AND :run ORDER BY r.id LIMIT 1),
            receiver AS (
              SELECT coalesce(bool_or(live.target_name = ANY (n.workflows)), true) AS is_workflow
                FROM live JOIN carillon.node n ON n.dead_at IS NULL AND live.target_name = ANY (n.handlers)),
            unread AS (
              SELECT count(*) AS signals, coalesce(sum(octet_length(u.value)), 0) AS bytes
                FROM (SELECT s.value FROM carillon.workflow_signal s
                       WHERE s.project = :project AND s.run_id = :run AND s.consumed_by IS NULL
                       LIMIT :maxUnread) u),
            stored AS (
              INSERT INTO carillon.workflow_signal (project, run_id, send_id, id, name, codec, value)
              SELECT project, id, :sendId, :id, :name, :codec, :value FROM live, receiver, unread
               WHERE is_workflow AND signals < :maxUnread AND bytes <= :maxBytesBefore
              ON CONFLICT (project, run_id, send_id) DO NOTHING RETURNING project, run_id),
            notifications AS (
              SELECT pg_notify('carillon', 'wait ' || project || ' ' || run_id || ' '
                       || mod(pg_current_xact_id()::text::bigint, 100000)) FROM stored WHERE :notifyNodes)
            SELECT CASE WHEN EXISTS (SELECT 1 FROM stored) THEN 'STORED'
                        WHEN NOT EXISTS (SELECT 1 FROM live) THEN 'NO_LIVE_RUN'
                        WHEN (SELECT is_workflow FROM receiver) THEN 'TOO_MANY' ELSE 'NO_WORKFLOW' END AS answer,
                   (SELECT count(*) FROM notifications) AS notified
            """;

    private static final String FIND_SENT = """
            SELECT id FROM carillon.workflow_signal
             WHERE project = :project AND run_id = :run AND send_id = :sendId
            """;

    // A live run first: its key may be held by the window of an earlier run that has ended.
    private static final String FIND = """
            (SELECT r.id FROM carillon.run r
              WHERE r.project = :project AND r.target_name BETWEEN :handler AND :handler AND r.key BETWEEN :key AND :key
              ORDER BY r.target_name, r.key LIMIT 1)
            UNION ALL
            (SELECT h.run_id FROM carillon.unique_key_window h
              WHERE h.project = :project AND h.handler = :handler AND h.key = :key AND h.until > carillon.clock())
            LIMIT 1
            """;

    private static final String WAKE = """
            /* UPDATE carillon.run */
            SELECT project, id, outcome, queue, gate_key FROM carillon.wake_workflows(:projects::text[], :ids::uuid[])
            """;

    private static final String SCAN = """
            SELECT project, run_id FROM carillon.workflow_signal
             WHERE consumed_by IS NULL AND (project, run_id) > (:project, :run)
             ORDER BY project, run_id LIMIT :limit
            """;

    private final Database database;

    public WorkflowSignalRepository(Database database) {
        this.database = database;
    }

    @Override
    public Sent send(NewSignal signal, boolean notifyNodes) {
        return database.single(session -> {
            Sent sent = bind(session.query(SEND), signal)
                    .uuid("id", signal.id())
                    .text("name", signal.name())
                    .text("codec", signal.value().codec())
                    .bytes("value", signal.value().bytes())
                    .number("maxUnread", MAX_UNREAD)
                    .number("maxBytesBefore", MAX_UNREAD_BYTES - signal.value().bytes().length)
                    .flag("notifyNodes", notifyNodes)
                    .first(row -> Sent.valueOf(row.text("answer")))
                    .orElseThrow();
            if (sent == Sent.STORED) return sent;
            // Any other answer may be about a call that is repeated, or about an id that was sent.
            Optional<UUID> earlier = bind(session.query(FIND_SENT), signal).first(row -> row.uuid("id"));
            return earlier.map(id -> id.equals(signal.id()) ? Sent.STORED : Sent.DUPLICATE)
                    .orElse(sent);
        });
    }

    private static Query bind(Query query, NewSignal signal) throws SQLException {
        return query.text("project", signal.project())
                .uuid("run", signal.run().value())
                .text("sendId", signal.sendId());
    }

    @Override
    public Optional<RunId> find(String project, String handler, String key) {
        return database.single(session -> session.query(FIND)
                .text("project", project)
                .text("handler", handler)
                .text("key", key)
                .first(row -> AttemptRows.runId(row, "id")));
    }

    @Override
    public Resolution wake(List<RunKey> waiting) {
        Set<Lane> lanes = new LinkedHashSet<>();
        Set<GateName> gates = new LinkedHashSet<>();
        List<RunKey> busy = new ArrayList<>();
        RunGroups.write(
                waiting,
                part -> database.single(session -> session.query(WAKE)
                        .column("projects", "text", part, RunKey::project)
                        .column("ids", "uuid", part, key -> key.run().value())
                        .list(row -> {
                            String project = row.text("project");
                            RunKey run = new RunKey(project, AttemptRows.runId(row, "id"));
                            @Nullable String gate = row.maybeText("gate_key");
                            if ("busy".equals(row.text("outcome"))) busy.add(run);
                            else if (gate == null) lanes.add(new Lane(row.text("queue"), project));
                            else gates.add(new GateName(project, gate));
                            return run;
                        })));
        return new Resolution(List.copyOf(lanes), List.copyOf(gates), List.of(), busy);
    }

    @Override
    public Scan scan(@Nullable RunKey after, int limit) {
        List<RunKey> found = database.single(session -> session.query(SCAN)
                .text("project", after == null ? "" : after.project())
                .uuid("run", after == null ? FIRST_ID : after.run().value())
                .number("limit", limit)
                .list(row -> new RunKey(row.text("project"), AttemptRows.runId(row, "run_id"))));
        return new Scan(
                List.copyOf(new LinkedHashSet<>(found)), found.size() < limit ? null : found.get(found.size() - 1));
    }
}
