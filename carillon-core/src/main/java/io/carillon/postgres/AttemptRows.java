package io.carillon.postgres;

import io.carillon.run.Attempt;
import io.carillon.run.Lane;
import io.carillon.run.Origin;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.run.Transition;
import io.carillon.store.AttemptRecord;
import io.carillon.store.ClaimRequest;
import io.carillon.store.Claimed;
import io.carillon.store.Ended;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Asks for rows to claim, and reads those that were. */
final class AttemptRows {
    static final String COLUMNS = """
            ctid, project, id, queue, class, suspect, crashes, attempt, failures, due_at, ready_at, planned_at, schedule_id,
            origin, target, target_name, codec, payload, trace, gate_key
            """;

    // Rows by their fence, in a way that does not hang on statistics: a table that was vacuumed while it was empty
    // counts
    // as empty until the next time, and a join with it is planned as a walk through all that came in since. One by one
    // by
    // their key: the range leaves it as the only index in this order. Written to by ctid, which is safe,
    // because they are locked. Before it stands what was asked for: e(project, id, attempt, ...).
    static final String HELD = """
            held AS MATERIALIZED (
              SELECT e.*, mine.place
                FROM e, LATERAL (SELECT ctid AS place FROM carillon.run
                                  WHERE project = e.project AND id BETWEEN e.id AND e.id
                                    AND attempt = e.attempt AND owner = :owner -- missing: another node holds it now
                                  ORDER BY id LIMIT 1 FOR UPDATE) mine)
            """;

    private AttemptRows() {}

    /** The parameters every claim has. */
    static Query asked(Query query, ClaimRequest request) throws SQLException {
        List<ClaimRequest.Quota> quotas = request.quotas();
        return query.uuid("owner", request.owner())
                .seconds("lease", request.lease())
                .column("queues", "text", quotas, quota -> quota.lane().queue())
                .column("projects", "text", quotas, quota -> quota.lane().project())
                .column("classes", "smallint", quotas, quota -> quota.priority().number())
                .column("counts", "int4", quotas, ClaimRequest.Quota::count)
                .column("lows", "timestamptz", quotas, ClaimRequest.Quota::low)
                .texts("strangers", request.strangers());
    }

    private record Found(Attempt attempt, Instant readyAt) {}

    /** What the claim got, in the order it was ready. */
    static Claimed claimed(Query query, Map<Lane, Instant> shut) throws SQLException {
        List<Found> found = query.list(row -> new Found(read(row), row.instant("ready_at")));
        found.sort(Comparator.comparing(Found::readyAt));
        return new Claimed(
                found.stream().map(Found::attempt).toList(),
                found.stream().map(Found::readyAt).toList(),
                shut);
    }

    static Attempt read(Row row) throws SQLException {
        UUID schedule = row.maybeUuid("schedule_id");
        String trace = row.maybeText("trace");
        String gate = row.maybeText("gate_key");
        return new Attempt(
                runId(row, "id"),
                row.integer("attempt"),
                new Lane(row.text("queue"), row.text("project")),
                Priority.of(row.integer("class")),
                Origin.of(row.text("origin")),
                new Target(row.text("target"), row.text("target_name")),
                new Payload(row.bytes("payload"), row.text("codec")),
                new Attempt.Times(row.maybeInstant("planned_at"), row.instant("due_at")),
                new Attempt.Counts(row.integer("failures"), row.integer("suspect"), row.integer("crashes")),
                schedule == null && trace == null && gate == null ? null : new Attempt.Link(schedule, trace, gate),
                row.text("ctid"));
    }

    static RunId runId(Row row, String column) throws SQLException {
        return new RunId(row.uuid(column));
    }

    /** An attempt that is open for somebody outside, and what was decided for the case that it fails. */
    record Awaited(
            UUID owner,
            Attempt attempt,
            Duration since,
            @Nullable String digest,
            @Nullable Duration pause,
            @Nullable String log) {
        private static final String OPEN = """
                SELECT owner, extract(epoch FROM carillon.clock() - started_at)::float8 AS age, a.digest, a.otherwise, a.said,
                """ + COLUMNS + """
                  FROM (SELECT ctid, * FROM carillon.run WHERE parked = 'awaiting' AND\s""";

        private static final String SAID = """
                ) r LEFT JOIN LATERAL (SELECT w.digest, w.pause AS otherwise, w.log AS said FROM carillon.awaited w
                                         WHERE w.project = r.project AND w.run_id = r.id AND w.attempt = r.attempt) a ON true
                """;

        static final String ONE = OPEN
                + "project = :project AND id BETWEEN :id AND :id AND attempt = :attempt ORDER BY id LIMIT 1" + SAID;

        static final String IN_VAIN =
                OPEN + "leased_until IS NOT NULL AND leased_until < carillon.clock() ORDER BY leased_until LIMIT 1000"
                        + SAID;

        static Awaited read(Row row) throws SQLException {
            Duration age = row.maybeSeconds("age");
            return new Awaited(
                    row.uuid("owner"),
                    AttemptRows.read(row),
                    age == null ? Duration.ZERO : age,
                    row.maybeText("digest"),
                    row.maybeSeconds("otherwise"),
                    row.maybeText("said"));
        }

        Ended succeeded() {
            return new Ended(attempt, new Transition.Complete(null), since, log);
        }

        Ended failed(String error, boolean timedOut) {
            Transition next = pause == null ? new Transition.Die(error) : new Transition.Retry(pause, error, timedOut);
            return new Ended(attempt, next, since, log);
        }
    }

    /** An attempt that has ended. */
    static AttemptRecord record(Row row) throws SQLException {
        return new AttemptRecord(
                row.integer("attempt"),
                row.uuid("owner"),
                row.maybeInstant("started_at"),
                row.instant("ended_at"),
                row.text("outcome"),
                row.maybeText("error"),
                row.maybeSeconds("pause"),
                row.maybeText("log"));
    }
}
