package io.carillon.internal.postgres.attempt;

import io.carillon.internal.jdbc.DatabaseTime;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.PolicyText;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.ClaimResult;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.run.AttemptRecord;
import io.carillon.run.Origin;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The parameters of claims and endings, and the reading of attempts from rows. */
public final class AttemptRows {
    /** The last attempts of a run that did not end it. A run may have thousands, each with a log and a response. */
    public static final String EARLIER_ATTEMPTS = """
            SELECT * FROM (
              SELECT attempt, owner, started_at, ended_at, outcome, error,
                extract(epoch FROM retry_delay) AS retry_delay, log, delivery
                FROM carillon.attempt WHERE project = :project AND run_id = :id ORDER BY attempt DESC LIMIT 200) last
             ORDER BY attempt
            """;

    static final String COLUMNS = """
            ctid, project, id, queue, priority, node_deaths, crashes, attempt, failures, due_at, ready_at, planned_at,
            schedule_id, origin, target, target_name, codec, payload, headers, gate_key, policy
            """;

    // The runs in claim records that their node still owns. A claim record without such a run gives one row without a
    // run. Each run is looked up by its key, whatever the statistics say.
    public static final String RECORDED_RUNS = """
             FROM carillon.claim_record n LEFT JOIN LATERAL (
                    SELECT owned_run.* FROM unnest(n.run_ids) WITH ORDINALITY AS recorded(id, number),
                           LATERAL (SELECT ctid, project, id, attempt, owner, parked FROM carillon.run
                                     WHERE project = coalesce(n.projects[recorded.number::int], n.projects[1])
                                       AND id BETWEEN recorded.id AND recorded.id
                                       AND owner = n.node
                                     ORDER BY id LIMIT 1) owned_run) r ON true
            """;

    /** Finds a run that can be claimed, by its key; the caller adds what the lane must allow, and the lock. */
    public static final String CLAIMABLE_RUN = """
            SELECT r.ctid FROM carillon.run r
             WHERE r.project = :project AND r.id BETWEEN :run AND :run AND r.owner IS NULL
               AND r.ready_at <= carillon.clock() AND r.start_by > carillon.clock()
            """;

    private AttemptRows() {}

    /**
     * Returns a statement that claims runs and writes their claim record, so that both commit together, however late.
     * Leases that expire need no claim record. {@code lockingQuery} locks the runs; the record and the claim find them
     * at their row locations in the same snapshot. The claim comes last, because PostgreSQL would copy the rows of an
     * inner statement before it sends them. The claim writes no indexed column, so the update stays HOT.
     * {@code limitAssignment} is empty, or sets the lane that counts the runs.
     */
    public static String claimStatement(String lockingQuery, String limitAssignment) {
        return "WITH candidates AS MATERIALIZED (SELECT array(\n" + lockingQuery + """
                ) AS ctids),
                recorded AS (
                  INSERT INTO carillon.claim_record (node, claim_number, projects, run_ids)
                  SELECT :owner::uuid, :claimNumber::bigint,
                         CASE WHEN :soleProject::text IS NULL
                           THEN array_agg(project) FILTER (WHERE :soleProject::text IS NULL)
                           ELSE ARRAY[:soleProject::text] END,
                         array_agg(id)
                    FROM carillon.run WHERE ctid = ANY ((SELECT ctids FROM candidates)::tid[])
                      AND :lease::float8 IS NULL HAVING count(*) > 0)
                UPDATE carillon.run
                   SET owner = :owner, attempt = attempt + 1, started_at = carillon.clock(),
                       leased_until = carillon.clock() + make_interval(secs => :lease)""" + limitAssignment + """

                 WHERE ctid = ANY ((SELECT ctids FROM candidates)::tid[])
                RETURNING\s"""
                + COLUMNS;
    }

    /** Binds the parameters that every claim has. */
    public static Query bindRequest(Query query, ClaimRequest request) throws SQLException {
        List<ClaimRequest.LaneClaim> laneClaims = request.laneClaims();
        return query.uuid("owner", request.owner())
                .seconds("lease", request.lease())
                .number("claimNumber", request.claimNumber())
                .text("soleProject", soleProject(laneClaims))
                .column(
                        "queues",
                        "text",
                        laneClaims,
                        laneClaim -> laneClaim.lane().queue())
                .column(
                        "projects",
                        "text",
                        laneClaims,
                        laneClaim -> laneClaim.lane().project())
                .column(
                        "priorities",
                        "smallint",
                        laneClaims,
                        laneClaim -> laneClaim.priority().number())
                .column("counts", "int4", laneClaims, ClaimRequest.LaneClaim::count)
                .column("readyFroms", "timestamptz", laneClaims, ClaimRequest.LaneClaim::readyFrom)
                .column("handlers", "text", laneClaims, laneClaim -> String.join(" ", laneClaim.handlers()))
                .texts("unknownHandlers", request.unknownHandlers());
    }

    /** Binds the parameters of a claim of one run. */
    public static Query bindRun(Query query, ClaimRequest request, RunId run) throws SQLException {
        return query.uuid("owner", request.owner())
                .seconds("lease", request.lease())
                .number("claimNumber", request.claimNumber())
                .text("soleProject", soleProject(request.laneClaims()))
                .text("project", request.laneClaims().get(0).lane().project())
                .uuid("run", run.value());
    }

    /**
     * Returns the project of all laneClaims, or null if there are several. A single project is recorded once, not
     * with each run.
     */
    private static @Nullable String soleProject(List<ClaimRequest.LaneClaim> laneClaims) {
        String first = laneClaims.get(0).lane().project();
        return laneClaims.stream()
                        .allMatch(laneClaim -> laneClaim.lane().project().equals(first))
                ? first
                : null;
    }

    private record ClaimedRow(Attempt attempt, Instant readyAt) {}

    /** Reads the claimed runs in the order in which they became ready. */
    public static ClaimResult readClaimed(Query query, Map<Lane, Instant> fullLanes) throws SQLException {
        List<ClaimedRow> found = query.list(row -> new ClaimedRow(read(row), row.instant("ready_at")));
        found.sort(Comparator.comparing(ClaimedRow::readyAt));
        return new ClaimResult(
                found.stream().map(ClaimedRow::attempt).toList(),
                found.stream().map(ClaimedRow::readyAt).toList(),
                fullLanes);
    }

    public static Attempt read(Row row) throws SQLException {
        UUID schedule = row.maybeUuid("schedule_id");
        String trace = row.maybeText("headers");
        String gate = row.maybeText("gate_key");
        String policy = row.maybeText("policy");
        return new Attempt(
                runId(row, "id"),
                row.integer("attempt"),
                new Lane(row.text("queue"), row.text("project")),
                Priority.of(row.integer("priority")),
                Origin.of(row.text("origin")),
                new Target(row.text("target"), row.text("target_name")),
                new Payload(row.bytes("payload"), row.text("codec")),
                new Attempt.Times(row.maybeInstant("planned_at"), row.instant("due_at")),
                new Attempt.Counts(row.integer("failures"), row.integer("node_deaths"), row.integer("crashes")),
                schedule == null && trace == null && gate == null && policy == null
                        ? null
                        : new Attempt.References(schedule, trace, gate, PolicyText.parse(policy)),
                row.text("ctid"));
    }

    public static RunId runId(Row row, String column) throws SQLException {
        return new RunId(row.uuid(column));
    }

    /**
     * An attempt that stays open for a callback. {@code retryDelay} is the delay before the next attempt if this one
     * fails; null if the run then is dead.
     */
    record OpenAttempt(
            UUID owner,
            Attempt attempt,
            Duration sinceStart,
            @Nullable String callbackTokenHash,
            @Nullable Duration retryDelay,
            @Nullable String log,
            boolean keepPayload,
            @Nullable String delivery) {
        private static final String SELECT_OPEN = """
                SELECT owner, extract(epoch FROM carillon.clock() - started_at)::float8 AS age, a.callback_token_hash,
                  a.retry_delay_seconds, a.log, a.keep_payload, a.delivery,
                """ + COLUMNS + """
                  FROM (SELECT ctid, * FROM carillon.run WHERE parked = 'awaiting' AND\s""";

        private static final String JOIN_DETAILS = """
                ) r LEFT JOIN LATERAL (SELECT w.callback_token_hash, w.retry_delay_seconds, w.log, w.keep_payload,
                                              w.delivery
                                         FROM carillon.open_attempt w
                                        WHERE w.project = r.project AND w.run_id = r.id
                                          AND w.attempt = r.attempt) a ON true
                """;

        static final String BY_ATTEMPT =
                SELECT_OPEN + "project = :project AND id BETWEEN :id AND :id AND attempt = :attempt ORDER BY id LIMIT 1"
                        + JOIN_DETAILS;

        static final String EXPIRED = SELECT_OPEN
                + "leased_until IS NOT NULL AND leased_until < carillon.clock() ORDER BY leased_until LIMIT 1000"
                + JOIN_DETAILS;

        static OpenAttempt read(Row row) throws SQLException {
            Duration age = row.maybeSeconds("age");
            return new OpenAttempt(
                    row.uuid("owner"),
                    AttemptRows.read(row),
                    age == null ? Duration.ZERO : age,
                    row.maybeText("callback_token_hash"),
                    row.maybeSeconds("retry_delay_seconds"),
                    row.maybeText("log"),
                    row.flag("keep_payload"),
                    row.maybeText("delivery"));
        }

        EndedAttempt succeeded() {
            return new EndedAttempt(attempt, new Transition.Complete(null), sinceStart, log, keepPayload, delivery);
        }

        EndedAttempt failed(String error, boolean timedOut) {
            Transition next = retryDelay == null
                    ? new Transition.MarkDead(error)
                    : new Transition.Retry(retryDelay, error, timedOut);
            return new EndedAttempt(attempt, next, sinceStart, log, keepPayload, delivery);
        }
    }

    /** Reads an attempt that has ended. */
    public static AttemptRecord readRecord(Row row) throws SQLException {
        return new AttemptRecord(
                row.integer("attempt"),
                row.uuid("owner"),
                row.maybeInstant("started_at"),
                row.instant("ended_at"),
                row.text("outcome"),
                row.maybeText("error"),
                row.maybeSeconds("retry_delay"),
                row.maybeText("log"),
                row.maybeText("delivery"));
    }

    /** The parameters that only some endings have. */
    static final class EndingParameters {
        private EndingParameters() {}

        static Query bindResults(Query query, List<EndedAttempt> group) throws SQLException {
            return query.column("resultCodecs", "text", group, one -> {
                        Payload result = result(one);
                        return result == null ? null : result.codec();
                    })
                    .column("results", "bytea", group, one -> {
                        Payload result = result(one);
                        return result == null ? null : result.bytes();
                    })
                    .column("keepPayloads", "bool", group, EndedAttempt::keepPayload);
        }

        private static @Nullable Payload result(EndedAttempt endedAttempt) {
            return endedAttempt.transition() instanceof Transition.Complete complete ? complete.result() : null;
        }

        static Query bindReasons(Query query, List<EndedAttempt> group) throws SQLException {
            return query.column("reasons", "text", group, one -> {
                if (one.transition() instanceof Transition.MarkDead markDead) return markDead.error();
                return one.transition() instanceof Transition.Cancel cancel ? cancel.reason() : null;
            });
        }

        static Query bindRetries(Query query, List<EndedAttempt> group) throws SQLException {
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
                    .column("retryDelays", "float8", group, one -> {
                        if (one.transition() instanceof Transition.Retry retry)
                            return DatabaseTime.seconds(retry.delay());
                        return DatabaseTime.seconds(((Transition.Snooze) one.transition()).delay());
                    });
        }

        static Query bindOpenAttempts(Query query, List<EndedAttempt> group) throws SQLException {
            return query.column(
                            "tokenHashes",
                            "text",
                            group,
                            one -> awaitTransition(one).tokenDigest())
                    .column(
                            "leaseSeconds",
                            "float8",
                            group,
                            one -> DatabaseTime.seconds(awaitTransition(one).timeout()))
                    .column("retryDelays", "float8", group, one -> {
                        Duration pause = awaitTransition(one).retryDelay();
                        return pause == null ? null : DatabaseTime.seconds(pause);
                    })
                    .column("keepPayloads", "bool", group, EndedAttempt::keepPayload);
        }

        private static Transition.AwaitCallback awaitTransition(EndedAttempt endedAttempt) {
            return (Transition.AwaitCallback) endedAttempt.transition();
        }
    }
}
