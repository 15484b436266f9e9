package io.carillon.internal.postgres.run;

import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.attempt.AttemptRows;
import io.carillon.run.Origin;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Progress;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunQuery;
import io.carillon.run.RunState;
import io.carillon.run.Target;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Runs as users see them, read from the hot table and from history. */
final class RunRows {
    private static final String PROGRESS = """
            LEFT JOIN carillon.progress p ON p.project = r.project AND p.run_id = r.id AND p.attempt = r.attempt
            """;

    static final String SELECT_LIVE = "SELECT r.*, p.done, p.total FROM carillon.run r " + PROGRESS + """
             WHERE r.project = :project AND r.id BETWEEN :id AND :id ORDER BY r.id
            """;

    static final String SELECT_ENDED = "SELECT * FROM carillon.run_history WHERE project = :project AND id = :id";

    // Ids contain the database time and keep their order while runs move from one table to the other: no page shows a
    // run twice or leaves one out.
    static final String PAGE_LIVE = """
            SELECT r.*, p.done, p.total
              FROM carillon.run_page(:project, :before, :queue::text, :handler::text, :schedule::uuid, :state::text,
                :limit) r
            """ + PROGRESS + " ORDER BY r.id DESC";

    static final String PAGE_ENDED = """
            SELECT * FROM carillon.history_page(:project, :before, :queue::text, :handler::text, :schedule::uuid,
              :state::text, :limit)
            """;

    private static final UUID MAX_ID = new UUID(-1, -1);

    /** Orders ids by their bytes, as PostgreSQL does. */
    private static final Comparator<UUID> BY_BYTES = Comparator.comparing(
                    UUID::getMostSignificantBits, Long::compareUnsigned)
            .thenComparing(UUID::getLeastSignificantBits, Long::compareUnsigned);

    private RunRows() {}

    static List<Run> page(Session session, String project, RunQuery query) throws SQLException {
        Map<UUID, Run> found = new TreeMap<>(BY_BYTES.reversed());
        // Live runs first: a run that ends between the two queries is found twice and reported as ended, and is never
        // left out.
        for (Run run : readLive(session, project, query)) found.put(run.id().value(), run);
        for (Run run : readEnded(session, project, query)) found.put(run.id().value(), run);
        return found.values().stream().limit(query.filter().limit()).toList();
    }

    /** Returns live runs, then ended runs. */
    static List<Run> list(Session session, String project, RunQuery query) throws SQLException {
        List<Run> runs = new ArrayList<>(readLive(session, project, query));
        if (runs.size() < query.filter().limit()) runs.addAll(readEnded(session, project, query));
        return runs.subList(0, Math.min(runs.size(), query.filter().limit()));
    }

    private static List<Run> readLive(Session session, String project, RunQuery query) throws SQLException {
        if (query.filter().state() != null && !isLive(query)) return List.of();
        return page(session.query(PAGE_LIVE), project, query).list(RunRows::readLive);
    }

    private static List<Run> readEnded(Session session, String project, RunQuery query) throws SQLException {
        if (isLive(query)) return List.of();
        return page(session.query(PAGE_ENDED), project, query).list(RunRows::readEnded);
    }

    private static boolean isLive(RunQuery query) {
        RunState state = query.filter().state();
        return state == RunState.WAITING || state == RunState.RUNNING;
    }

    private static Query page(Query sql, String project, RunQuery query) throws SQLException {
        RunFilter filter = query.filter();
        RunState state = filter.state();
        RunId before = query.before();
        return sql.text("project", project)
                .text("queue", filter.queue())
                .text("handler", filter.handler())
                .text("state", state == null ? null : state.text())
                .uuid("schedule", query.schedule())
                .uuid("before", before == null ? MAX_ID : before.value())
                .number("limit", filter.limit());
    }

    static Run readLive(Row row) throws SQLException {
        RunState state = row.maybeUuid("owner") == null ? RunState.WAITING : RunState.RUNNING;
        Long done = row.maybeNumber("done");
        Progress progress = done == null ? null : new Progress(done, row.number("total"));
        Run.Instants instants = new Run.Instants(
                row.instant("created_at"),
                row.instant("due_at"),
                row.maybeInstant("planned_at"),
                row.maybeInstant("started_at"),
                null);
        Run.Details details = new Run.Details(
                row.maybeUuid("schedule_id"),
                readParent(row),
                row.maybeText("key"),
                row.maybeText("parked"),
                null,
                null,
                null,
                null,
                progress);
        return readRun(row, state, instants, details);
    }

    static Run readEnded(Row row) throws SQLException {
        byte[] result = row.maybeBytes("result");
        Run.Instants instants = new Run.Instants(
                row.instant("created_at"),
                row.instant("due_at"),
                row.maybeInstant("planned_at"),
                row.maybeInstant("started_at"),
                row.instant("ended_at"));
        Run.Details details = new Run.Details(
                row.maybeUuid("schedule_id"),
                readParent(row),
                row.maybeText("key"),
                null,
                row.maybeText("reason"),
                result == null ? null : new Payload(result, row.text("result_codec")),
                row.maybeText("log"),
                row.maybeText("delivery"),
                null);
        return readRun(row, RunState.of(row.text("state")), instants, details);
    }

    private static @Nullable RunId readParent(Row row) throws SQLException {
        UUID parent = row.maybeUuid("parent_id");
        return parent == null ? null : new RunId(parent);
    }

    private static Run readRun(Row row, RunState state, Run.Instants instants, Run.Details details)
            throws SQLException {
        return new Run(
                AttemptRows.runId(row, "id"),
                row.text("project"),
                row.text("queue"),
                state,
                Priority.of(row.integer("priority")),
                Origin.of(row.text("origin")),
                new Target(row.text("target"), row.text("target_name")),
                row.integer("attempt"),
                row.integer("failures"),
                row.integer("crashes"),
                instants,
                details);
    }
}
