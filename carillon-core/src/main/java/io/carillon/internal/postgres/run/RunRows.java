package io.carillon.internal.postgres.run;

import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.attempt.AttemptRows;
import io.carillon.internal.run.PolicyText;
import io.carillon.internal.run.UniqueKeys;
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
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Runs as users see them, read from the hot table and from history. */
final class RunRows {
    private static final String PROGRESS = """
            LEFT JOIN carillon.progress p ON p.project = r.project AND p.run_id = r.id AND p.attempt = r.attempt
            """;

    // The condition on failures is checked once for each run: attempts of runs that did not fail are not looked up.
    private static final String LAST_ERROR = """
            LEFT JOIN LATERAL (SELECT split_part(a.error, chr(10), 1) AS last_error FROM carillon.attempt a
                                WHERE r.failures > 0 AND a.project = r.project AND a.run_id = r.id
                                  AND a.outcome IN ('failed', 'timed-out')
                                ORDER BY a.attempt DESC LIMIT 1) failed ON true
            """;

    // The start of the first attempt. Only runs with several attempts are looked up.
    private static final String FIRST_START = """
            CASE WHEN r.attempt < 2 AND r.started_at IS NOT NULL OR r.attempt = 0 THEN r.started_at
              ELSE coalesce((SELECT min(a.started_at) FROM carillon.attempt a
                              WHERE a.project = r.project AND a.run_id = r.id), r.started_at) END AS first_started_at
            """;

    private static final String LIVE_COLUMNS = """
            SELECT r.*, p.done, p.total, failed.last_error,
                   CASE WHEN r.owner IS NOT NULL THEN NULL WHEN r.ready_at < 'infinity' THEN r.ready_at
                        ELSE r.gate_arrival_at END AS next_attempt_at,
            """ + FIRST_START;

    private static final String FILTERS = """
            :project, :before, :readTo, :queue::text, :notQueue::text, :handler::text, :notHandler::text,
              :schedule::uuid, :state::text, :notState::text, :from::timestamptz, :to::timestamptz, :workflow,
            """;

    static final String SELECT_LIVE = LIVE_COLUMNS + ", p.log FROM carillon.run r " + PROGRESS + LAST_ERROR + """
             WHERE r.project = :project AND r.id BETWEEN :id AND :id ORDER BY r.id
            """;

    static final String SELECT_ENDED = "SELECT r.*, " + FIRST_START + """
              FROM carillon.run_history r WHERE r.project = :project AND r.id = :id
            """;

    // One lookup by the primary key for each id.
    static final String SELECT_ALL_LIVE = LIVE_COLUMNS + """
              , p.log FROM unnest(:ids::uuid[]) AS e(id)
              CROSS JOIN LATERAL (SELECT * FROM carillon.run l
                                   WHERE l.project = :project AND l.id BETWEEN e.id AND e.id
                                   ORDER BY l.id LIMIT 1) r
            """ + PROGRESS + LAST_ERROR;

    static final String SELECT_ALL_ENDED = "SELECT r.*, " + FIRST_START + """
              FROM carillon.run_history r WHERE r.project = :project AND r.id = ANY (:ids::uuid[])
            """;

    // Ids contain the database time and keep their order while runs move from one table to the other: no page shows a
    // run twice or leaves one out.
    static final String PAGE_LIVE = LIVE_COLUMNS + """
              , NULL::text AS log
              FROM carillon.run_page(""" + FILTERS + """
                :error::text, :payload::text, :limit) r
            """ + PROGRESS + LAST_ERROR + " ORDER BY r.id DESC";

    static final String PAGE_ENDED = "SELECT r.*, " + FIRST_START + """
              FROM carillon.history_page(""" + FILTERS + """
              :error::text, :payload::text, :limit) r
            """;

    // The last of the runs that a page may read; no row if there are fewer.
    static final String READ_TO_LIVE = """
            SELECT id FROM carillon.run_read_to(:project, :before, :readTo, :reads) AS id WHERE id IS NOT NULL
            """;

    static final String READ_TO_ENDED = """
            SELECT id FROM carillon.history_read_to(:project, :before, :readTo, :reads) AS id WHERE id IS NOT NULL
            """;

    // The last of the runs in which a text may be searched; no row if there are fewer.
    static final String MATCHING_TO_LIVE = "SELECT id FROM carillon.run_page(" + FILTERS + """
              NULL, NULL, :reads) ORDER BY id DESC OFFSET :reads - 1
            """;

    static final String MATCHING_TO_ENDED = "SELECT id FROM carillon.history_page(" + FILTERS + """
              NULL, NULL, :reads) ORDER BY id DESC OFFSET :reads - 1
            """;

    private static final UUID MIN_ID = new UUID(0, 0);
    private static final UUID MAX_ID = new UUID(-1, -1);

    /** The time in an id is the estimate of a node for the database time, which may differ from the creation. */
    private static final Duration ID_TOLERANCE = Duration.ofHours(1);

    /** Orders ids by their bytes, as PostgreSQL does. */
    static final Comparator<UUID> BY_BYTES = Comparator.comparing(UUID::getMostSignificantBits, Long::compareUnsigned)
            .thenComparing(UUID::getLeastSignificantBits, Long::compareUnsigned);

    private RunRows() {}

    static List<Run> page(Session session, String project, RunQuery query) throws SQLException {
        return page(session, project, query, new PageEnd(null, query.filter().limit()));
    }

    /**
     * Where a page ends.
     *
     * @param readTo the oldest run that it may read; null if it may read all that follow
     * @param limit the maximum number of its runs
     */
    record PageEnd(@Nullable UUID readTo, int limit) {}

    static List<Run> page(Session session, String project, RunQuery query, PageEnd end) throws SQLException {
        Map<UUID, Run> found = new TreeMap<>(BY_BYTES.reversed());
        // Live runs first: a run that ends between the two queries is found twice and reported as ended, and is never
        // left out.
        for (Run run : readLive(session, project, query, end))
            found.put(run.id().value(), run);
        for (Run run : readEnded(session, project, query, end))
            found.put(run.id().value(), run);
        return found.values().stream().limit(end.limit()).toList();
    }

    /** Returns live runs, then ended runs. */
    static List<Run> list(Session session, String project, RunQuery query) throws SQLException {
        PageEnd end = new PageEnd(null, query.filter().limit());
        List<Run> runs = new ArrayList<>(readLive(session, project, query, end));
        if (runs.size() < query.filter().limit()) runs.addAll(readEnded(session, project, query, end));
        return runs.subList(0, Math.min(runs.size(), query.filter().limit()));
    }

    private static List<Run> readLive(Session session, String project, RunQuery query, PageEnd end)
            throws SQLException {
        if (query.filter().state() != null && !isLive(query)) return List.of();
        return page(session.query(PAGE_LIVE), project, query, end).list(RunRows::readLive);
    }

    private static List<Run> readEnded(Session session, String project, RunQuery query, PageEnd end)
            throws SQLException {
        if (isLive(query)) return List.of();
        return page(session.query(PAGE_ENDED), project, query, end).list(RunRows::readEnded);
    }

    /** Returns the last of so many waiting and running runs, matching or not; empty if there are fewer. */
    static Optional<UUID> readToLive(Session session, String project, RunQuery query, int reads) throws SQLException {
        if (query.filter().state() != null && !isLive(query)) return Optional.empty();
        return readTo(session.query(READ_TO_LIVE), project, query, reads);
    }

    /** Like {@link #readToLive}, for ended runs. */
    static Optional<UUID> readToEnded(Session session, String project, RunQuery query, int reads) throws SQLException {
        if (isLive(query)) return Optional.empty();
        return readTo(session.query(READ_TO_ENDED), project, query, reads);
    }

    private static Optional<UUID> readTo(Query sql, String project, RunQuery query, int reads) throws SQLException {
        return sql.text("project", project)
                .uuid("before", before(query))
                .uuid("readTo", firstAt(query.from()))
                .number("reads", reads)
                .first(row -> row.uuid("id"));
    }

    /** Returns the last of the waiting and running runs that match without the texts; empty if there are fewer. */
    static Optional<UUID> matchingToLive(Session session, String project, RunQuery query, PageEnd end)
            throws SQLException {
        if (query.filter().state() != null && !isLive(query)) return Optional.empty();
        return matchingTo(session.query(MATCHING_TO_LIVE), project, query, end);
    }

    /** Like {@link #matchingToLive}, for ended runs. */
    static Optional<UUID> matchingToEnded(Session session, String project, RunQuery query, PageEnd end)
            throws SQLException {
        if (isLive(query)) return Optional.empty();
        return matchingTo(session.query(MATCHING_TO_ENDED), project, query, end);
    }

    private static Optional<UUID> matchingTo(Query sql, String project, RunQuery query, PageEnd end)
            throws SQLException {
        return filters(sql, project, query, end.readTo())
                .number("reads", end.limit())
                .first(row -> row.uuid("id"));
    }

    private static boolean isLive(RunQuery query) {
        RunState state = query.filter().state();
        return state == RunState.WAITING || state == RunState.RUNNING;
    }

    private static Query page(Query sql, String project, RunQuery query, PageEnd end) throws SQLException {
        return filters(sql, project, query, end.readTo())
                .text("error", query.error())
                .text("payload", query.payload())
                .number("limit", end.limit());
    }

    private static Query filters(Query sql, String project, RunQuery query, @Nullable UUID readTo) throws SQLException {
        RunFilter filter = query.filter();
        RunState state = filter.state();
        RunState notState = query.notState();
        return sql.text("project", project)
                .text("queue", filter.queue())
                .text("notQueue", query.notQueue())
                .text("handler", filter.handler())
                .text("notHandler", query.notHandler())
                .text("state", state == null ? null : state.text())
                .text("notState", notState == null ? null : notState.text())
                .uuid("schedule", query.schedule())
                .instant("from", query.from())
                .instant("to", query.to())
                .flag("workflow", query.workflow())
                .uuid("before", before(query))
                .uuid("readTo", readTo == null ? firstAt(query.from()) : readTo);
    }

    /** Returns the id that all ids of the page are below. */
    private static UUID before(RunQuery query) {
        RunId before = query.before();
        Instant to = query.to();
        UUID last = before == null ? MAX_ID : before.value();
        UUID latest = to == null ? MAX_ID : firstAt(to.plus(ID_TOLERANCE).plus(ID_TOLERANCE));
        return BY_BYTES.compare(last, latest) < 0 ? last : latest;
    }

    /** Returns an id that is not above those of the runs that were created at this instant or later. */
    private static UUID firstAt(@Nullable Instant from) {
        if (from == null) return MIN_ID;
        return new UUID(Math.max(0, from.minus(ID_TOLERANCE).toEpochMilli()) << 16, 0);
    }

    static Run readLive(Row row) throws SQLException {
        RunState state = row.maybeUuid("owner") == null ? RunState.WAITING : RunState.RUNNING;
        Long done = row.maybeNumber("done");
        Progress progress = done == null ? null : new Progress(done, row.number("total"));
        Run.Instants instants = new Run.Instants(
                row.instant("created_at"),
                row.instant("due_at"),
                row.maybeInstant("next_attempt_at"),
                row.maybeInstant("planned_at"),
                row.maybeInstant("started_at"),
                null,
                row.maybeInstant("first_started_at"));
        Run.Details details = new Run.Details(
                PolicyText.parse(row.maybeText("policy")),
                row.maybeUuid("schedule_id"),
                readParent(row),
                UniqueKeys.shown(row.text("queue"), row.maybeText("key")),
                row.maybeText("parked"),
                row.maybeText("last_error"),
                null,
                null,
                row.maybeText("log"),
                null,
                progress);
        return readRun(row, state, instants, details);
    }

    static Run readEnded(Row row) throws SQLException {
        byte[] result = row.maybeBytes("result");
        Run.Instants instants = new Run.Instants(
                row.instant("created_at"),
                row.instant("due_at"),
                null,
                row.maybeInstant("planned_at"),
                row.maybeInstant("started_at"),
                row.instant("ended_at"),
                row.maybeInstant("first_started_at"));
        Run.Details details = new Run.Details(
                PolicyText.parse(row.maybeText("policy")),
                row.maybeUuid("schedule_id"),
                readParent(row),
                UniqueKeys.shown(row.text("queue"), row.maybeText("key")),
                null,
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
