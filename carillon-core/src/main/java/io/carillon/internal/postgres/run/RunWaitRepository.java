package io.carillon.internal.postgres.run;

import io.carillon.Stats.RunStats.Count;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.attempt.AttemptRows;
import io.carillon.internal.postgres.partition.Partitions;
import io.carillon.internal.postgres.sql.HistoryInsert;
import io.carillon.internal.postgres.stats.EndedRows;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.GateName;
import io.carillon.internal.store.run.RunWaitStore;
import io.carillon.run.RunId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The store of runs that wait for the end of other runs. */
public final class RunWaitRepository implements RunWaitStore {
    private static final int GROUP_SIZE = 500;
    private static final UUID FIRST_ID = new UUID(0, 0);

    private static final String FIND_WAITING = """
            SELECT DISTINCT w.project, w.run_id FROM unnest(:projects::text[], :ids::uuid[]) AS e(project, id)
              JOIN carillon.run_wait w ON w.project = e.project AND w.awaited_id = e.id
            """;

    private static final String RESOLVE = """
            /* UPDATE carillon.run, INSERT INTO carillon.run_wait, DELETE FROM carillon.run_wait */
            SELECT project, id, outcome, queue, gate_key, awaited_id, awaited_state
              FROM carillon.resolve_run_waits(:projects::text[], :ids::uuid[])
            """;

    // These runs are locked by the statement before.
    private static final String CANCEL = """
            WITH e AS MATERIALIZED (
              SELECT * FROM unnest(:projects::text[], :ids::uuid[], :reasons::text[]) AS e(project, id, reason)),
            deleted AS MATERIALIZED (/* DELETE FROM carillon.run, UPDATE carillon.run */ SELECT *
              FROM carillon.end_waiting_runs(:projects::text[], :ids::uuid[], true))
            """
            + HistoryInsert.of("deleted", "'cancelled'")
                    .with("reason", "e.reason")
                    .from("deleted JOIN e ON e.project = deleted.project AND e.id = deleted.id RETURNING "
                            + EndedRows.COLUMNS);

    private static final String SCAN = """
            SELECT project, run_id, awaited_id, resolvable, last
              FROM carillon.scan_run_waits(:project, :waiting, :awaited, :limit::int)
            """;

    private final Database database;
    private final Partitions partitions;
    private final EndedRows endedRows;

    public RunWaitRepository(Database database, Partitions partitions, EndedRows endedRows) {
        this.database = database;
        this.partitions = partitions;
        this.endedRows = endedRows;
    }

    @Override
    public Resolution resolveAwaited(List<RunKey> ended) {
        if (ended.isEmpty()) return Resolved.NONE;
        return resolve(database.single(session -> bindKeys(session.query(FIND_WAITING), ended)
                .list(row -> new RunKey(row.text("project"), AttemptRows.runId(row, "run_id")))));
    }

    @Override
    public Resolution resolve(List<RunKey> waiting) {
        Resolved all = new Resolved();
        for (int from = 0; from < waiting.size(); from += GROUP_SIZE) {
            List<RunKey> group = waiting.subList(from, Math.min(waiting.size(), from + GROUP_SIZE));
            RunGroups.write(
                    group,
                    part -> all.add(
                            partitions.creatingMissing(() -> database.transaction(session -> resolve(session, part)))));
        }
        return all.resolution();
    }

    private Resolved resolve(Session session, List<RunKey> group) throws SQLException {
        Resolved resolved = new Resolved();
        bindKeys(session.query(RESOLVE), group).list(row -> {
            RunKey run = new RunKey(row.text("project"), AttemptRows.runId(row, "id"));
            String gate = row.maybeText("gate_key");
            switch (row.text("outcome")) {
                case "busy" -> resolved.busy.add(run);
                case "cancel" -> {
                    resolved.cancelled.add(run);
                    resolved.reasons.add(reason(AttemptRows.runId(row, "awaited_id"), row.text("awaited_state")));
                }
                default -> {
                    if (gate == null) resolved.lanes.add(new Lane(row.text("queue"), run.project()));
                    else resolved.gates.add(new GateName(run.project(), gate));
                }
            }
            return run;
        });
        if (!resolved.cancelled.isEmpty()) {
            Query cancel = bindKeys(session.query(CANCEL), resolved.cancelled).texts("reasons", resolved.reasons);
            endedRows.count(session, cancel, Count.CANCELLED);
        }
        return resolved;
    }

    private static String reason(RunId awaited, String state) {
        return "gone".equals(state)
                ? "the awaited run %s does not exist or has left the history".formatted(awaited)
                : "the awaited run %s ended %s".formatted(awaited, state);
    }

    private static Query bindKeys(Query query, List<RunKey> keys) throws SQLException {
        return query.column("projects", "text", keys, RunKey::project)
                .column("ids", "uuid", keys, key -> key.run().value());
    }

    @Override
    public Scan scan(@Nullable Position after, int limit) {
        Position from = after == null ? new Position("", FIRST_ID, FIRST_ID) : after;
        Set<RunKey> waiting = new LinkedHashSet<>();
        List<Position> last = new ArrayList<>();
        database.single(session -> session.query(SCAN)
                .text("project", from.project())
                .uuid("waiting", from.waiting())
                .uuid("awaited", from.awaited())
                .number("limit", limit)
                .list(row -> {
                    RunKey run = new RunKey(row.text("project"), AttemptRows.runId(row, "run_id"));
                    if (row.flag("resolvable")) waiting.add(run);
                    if (row.flag("last"))
                        last.add(new Position(run.project(), run.run().value(), row.uuid("awaited_id")));
                    return run;
                }));
        return new Scan(List.copyOf(waiting), last.isEmpty() ? null : last.get(0));
    }

    /** The resolved waits of several groups of runs. */
    private static final class Resolved {
        private static final Resolution NONE = new Resolved().resolution();

        private final Set<Lane> lanes = new LinkedHashSet<>();
        private final Set<GateName> gates = new LinkedHashSet<>();
        private final List<RunKey> cancelled = new ArrayList<>();
        private final List<String> reasons = new ArrayList<>();
        private final List<RunKey> busy = new ArrayList<>();

        void add(Resolved more) {
            lanes.addAll(more.lanes);
            gates.addAll(more.gates);
            cancelled.addAll(more.cancelled);
            busy.addAll(more.busy);
        }

        Resolution resolution() {
            return new Resolution(List.copyOf(lanes), List.copyOf(gates), cancelled, busy);
        }
    }
}
