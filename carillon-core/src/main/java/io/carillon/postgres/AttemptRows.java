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
    /** The attempts of a run that did not end it. */
    static final String EARLIER = """
            SELECT attempt, owner, started_at, ended_at, outcome, error, extract(epoch FROM pause) AS pause, log, delivery
              FROM carillon.attempt WHERE project = :project AND run_id = :id ORDER BY attempt
            """;

    static final String COLUMNS = """
            ctid, project, id, queue, class, suspect, crashes, attempt, failures, due_at, ready_at, planned_at, schedule_id,
            origin, target, target_name, codec, payload, trace, gate_key
            """;

    // The runs that nodes have noted and still own; one row without a run for a note of which nothing is left. By the
    // key,
    // one by one, whatever the statistics say.
    static final String NOTED_RUNS = """
             FROM carillon.claim_note n LEFT JOIN LATERAL (
                    SELECT mine.* FROM unnest(n.ids) WITH ORDINALITY AS noted(id, number),
                           LATERAL (SELECT ctid, project, id, attempt, owner, parked FROM carillon.run
                                     WHERE project = coalesce(n.projects[noted.number::int], n.projects[1]) AND id BETWEEN noted.id AND noted.id
                                       AND owner = n.node
                                     ORDER BY id LIMIT 1) mine) r ON true
            """;

    private AttemptRows() {}

    /**
     * A claim and its note in one statement, so that both commit together, however late. Leases that end by themselves need none. {@code places} locks the
     * runs; note and claim find them there in the same snapshot. The claim comes last, because rows of an inner statement would be copied before they are
     * sent. No indexed column is written: the update stays HOT. {@code limit} is empty, or sets the lane that counts the runs.
     */
    static String noted(String places, String limit) {
        return "WITH picked AS MATERIALIZED (SELECT array(\n" + places + """
                ) AS places),
                noted AS (
                  INSERT INTO carillon.claim_note (node, seq, projects, ids)
                  SELECT :owner::uuid, :note::bigint,
                         CASE WHEN :sole::text IS NULL THEN array_agg(project) FILTER (WHERE :sole::text IS NULL) ELSE ARRAY[:sole::text] END,
                         array_agg(id)
                    FROM carillon.run WHERE ctid = ANY ((SELECT places FROM picked)::tid[]) AND :lease::float8 IS NULL HAVING count(*) > 0)
                UPDATE carillon.run
                   SET owner = :owner, attempt = attempt + 1, started_at = carillon.clock(),
                       leased_until = carillon.clock() + make_interval(secs => :lease)""" + limit + """

                 WHERE ctid = ANY ((SELECT places FROM picked)::tid[])
                RETURNING\s""" + COLUMNS;
    }

    /** The parameters every claim has. */
    static Query asked(Query query, ClaimRequest request) throws SQLException {
        List<ClaimRequest.Quota> quotas = request.quotas();
        return query.uuid("owner", request.owner())
                .seconds("lease", request.lease())
                .number("note", request.note())
                .text("sole", soleProject(quotas))
                .column("queues", "text", quotas, quota -> quota.lane().queue())
                .column("projects", "text", quotas, quota -> quota.lane().project())
                .column("classes", "smallint", quotas, quota -> quota.priority().number())
                .column("counts", "int4", quotas, ClaimRequest.Quota::count)
                .column("lows", "timestamptz", quotas, ClaimRequest.Quota::low)
                .column("handlers", "text", quotas, quota -> String.join(" ", quota.handlers()))
                .texts("strangers", request.strangers());
    }

    /** The project of all quotas, or null if they have several. A note names one project once instead of with each run. */
    private static @Nullable String soleProject(List<ClaimRequest.Quota> quotas) {
        String first = quotas.get(0).lane().project();
        return quotas.stream().allMatch(quota -> quota.lane().project().equals(first)) ? first : null;
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
            @Nullable String log,
            boolean keepPayload,
            @Nullable String delivery) {
        private static final String OPEN = """
                SELECT owner, extract(epoch FROM carillon.clock() - started_at)::float8 AS age, a.digest, a.otherwise, a.said, a.keep, a.delivery,
                """ + COLUMNS + """
                  FROM (SELECT ctid, * FROM carillon.run WHERE parked = 'awaiting' AND\s""";

        private static final String SAID = """
                ) r LEFT JOIN LATERAL (SELECT w.digest, w.pause AS otherwise, w.log AS said, w.keep_payload AS keep, w.delivery FROM carillon.awaited w
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
                    row.maybeText("said"),
                    row.flag("keep"),
                    row.maybeText("delivery"));
        }

        Ended succeeded() {
            return new Ended(attempt, new Transition.Complete(null), since, log, keepPayload, delivery);
        }

        Ended failed(String error, boolean timedOut) {
            Transition next = pause == null ? new Transition.Die(error) : new Transition.Retry(pause, error, timedOut);
            return new Ended(attempt, next, since, log, keepPayload, delivery);
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
                row.maybeText("log"),
                row.maybeText("delivery"));
    }

    /** The parameters that only some endings have. */
    static final class EndedCells {
        private EndedCells() {}

        static Query results(Query query, List<Ended> group) throws SQLException {
            return query.column("resultCodecs", "text", group, one -> {
                        Payload result = result(one);
                        return result == null ? null : result.codec();
                    })
                    .column("results", "bytea", group, one -> {
                        Payload result = result(one);
                        return result == null ? null : result.bytes();
                    })
                    .column("keeps", "bool", group, Ended::keepPayload);
        }

        private static @Nullable Payload result(Ended ended) {
            return ended.transition() instanceof Transition.Complete complete ? complete.result() : null;
        }

        static Query reasons(Query query, List<Ended> group) throws SQLException {
            return query.column("reasons", "text", group, one -> {
                if (one.transition() instanceof Transition.Die die) return die.error();
                return one.transition() instanceof Transition.Cancel cancel ? cancel.reason() : null;
            });
        }

        static Query retries(Query query, List<Ended> group) throws SQLException {
            return query.column("outcomes", "text", group, one -> {
                        if (!(one.transition() instanceof Transition.Retry retry)) return "snoozed";
                        return retry.timedOut() ? "timed-out" : "failed";
                    })
                    .column(
                            "errors",
                            "text",
                            group,
                            one -> one.transition() instanceof Transition.Retry retry ? retry.error() : null)
                    .column("failed", "bool", group, one -> one.transition() instanceof Transition.Retry)
                    .column("pauses", "float8", group, one -> {
                        if (one.transition() instanceof Transition.Retry retry)
                            return DatabaseTime.seconds(retry.pause());
                        return DatabaseTime.seconds(((Transition.Snooze) one.transition()).pause());
                    });
        }

        static Query awaited(Query query, List<Ended> group) throws SQLException {
            return query.column("digests", "text", group, one -> await(one).digest())
                    .column(
                            "atMosts",
                            "float8",
                            group,
                            one -> DatabaseTime.seconds(await(one).atMost()))
                    .column("pauses", "float8", group, one -> {
                        Duration pause = await(one).pause();
                        return pause == null ? null : DatabaseTime.seconds(pause);
                    })
                    .column("keeps", "bool", group, Ended::keepPayload);
        }

        private static Transition.Await await(Ended ended) {
            return (Transition.Await) ended.transition();
        }
    }
}
