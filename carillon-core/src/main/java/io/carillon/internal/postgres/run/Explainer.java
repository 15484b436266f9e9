package io.carillon.internal.postgres.run;

import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.attempt.AttemptRows;
import io.carillon.internal.run.ErrorText;
import io.carillon.internal.value.Durations;
import io.carillon.internal.value.PublicId;
import io.carillon.run.Explanation;
import io.carillon.run.Run;
import io.carillon.run.RunState;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The explanation, in plain words, why a run is in its state. */
final class Explainer {
    private static final String RUN_STATE = """
            SELECT carillon.clock() AS now, r.ready_at, r.parked, r.ready_at > carillon.clock() AS future, r.start_by,
                   r.start_by <= carillon.clock() AS late, l.paused_at, l.paused_by, l.paused_reason,
                   l.max_running, l.rate, coalesce(l.weight, 1) AS weight,
                     (SELECT max(weight) FROM carillon.lane) AS max_weight, l.breaker <> 'closed' AS breaker_open,
                     l.breaker_until,
                   l.max_running <= (SELECT count(*) FROM carillon.run h
                     WHERE h.project = l.project AND h.limited_by = l.queue) AS lane_full,
                   n.id AS node, n.dead_at,
                   EXISTS (SELECT 1 FROM carillon.node k
                     WHERE k.dead_at IS NULL AND r.target_name = ANY (k.handlers)) AS has_live_handler,
                   EXISTS (SELECT 1 FROM carillon.cancel_request c
                     WHERE c.project = r.project AND c.run_id = r.id) AS cancelling
              FROM carillon.run r
              LEFT JOIN carillon.lane l ON l.queue = r.queue AND l.project = r.project
              LEFT JOIN carillon.node n ON n.id = r.owner
             WHERE r.project = :project AND r.id = :id
            """;

    private static final String GATE_POSITION = """
            SELECT r.gate_key, coalesce(r.gate_limit, 1) AS gate_limit,
                   (SELECT count(*) FROM (SELECT 1 FROM carillon.run t
                                           WHERE t.project = r.project AND t.gate_key = r.gate_key
                                             AND t.gate_position IS NULL LIMIT 1000) x) AS passed,
                   (SELECT count(*) FROM (SELECT 1 FROM carillon.run a
                                           WHERE a.project = r.project AND a.gate_key = r.gate_key
                                             AND a.gate_position < r.gate_position LIMIT 1000) x) AS ahead
              FROM carillon.run r
             WHERE r.project = :project AND r.id = :id AND r.parked = 'gate'
            """;

    private static final String AWAITED_RUNS = """
            SELECT count(*) AS runs, (array_agg(awaited_id ORDER BY awaited_id))[1] AS first_id
              FROM carillon.run_wait WHERE project = :project AND run_id = :id HAVING count(*) > 0
            """;

    // The last record says what a workflow waits for, unless an attempt failed since: then the run waits for the next
    // one.
    private static final String WORKFLOW_WAIT = """
            SELECT s.kind, s.path, s.until
              FROM (SELECT kind, path, until, failures FROM carillon.workflow_step
                     WHERE project = :project AND run_id = :id ORDER BY position DESC LIMIT 1) s
              JOIN carillon.run r ON r.project = :project AND r.id = :id
             WHERE s.kind IN ('sleep', 'await', 'await-run') AND r.failures = s.failures
               AND r.ready_at > carillon.clock()
            """;

    // The runs of a lane that a node has claimed are parked, or at the head of the runs of their handler. Of the
    // waiting runs only the runs of this handler are read, in the order of the index.
    private static final String SLOT_USE = """
            SELECT count(*) AS nodes, sum(n.slots) AS slots, sum(claimed.runs) AS held,
                   coalesce(bool_and(n.busy >= n.slots), false) AS busy,
                   coalesce(bool_and(claimed.runs >= greatest(n.slots * 9 / 10, 1)), false) AS at_lane_share
              FROM carillon.node n,
                   LATERAL (SELECT count(*) AS runs
                              FROM (SELECT head.owner
                                      FROM generate_series(0, 3) AS c(priority),
                                           LATERAL (SELECT r.owner FROM carillon.run r
                                                     WHERE r.queue = :queue AND r.project = :project
                                                       AND r.priority = c.priority
                                                       AND r.target_name = :name AND r.ready_at <= carillon.clock()
                                                     ORDER BY r.ready_at LIMIT 2000) head
                                    UNION ALL
                                    SELECT p.owner FROM carillon.run p
                                     WHERE p.parked = 'running' AND p.queue = :queue AND p.project = :project) held
                             WHERE held.owner = n.id) claimed
             WHERE n.dead_at IS NULL AND :name = ANY (n.handlers)
            """;

    /** What a workflow waits for. The signal is null if it waits for something else. */
    private record WorkflowWait(String reason, @Nullable String signal) {}

    private Explainer() {}

    static Explanation explain(Session session, Run run) throws SQLException {
        if (run.instants().endedAt() != null) return explainEnded(run);
        String gate = session.query(GATE_POSITION)
                .text("project", run.project())
                .uuid("id", run.id().value())
                .first(Explainer::describeGate)
                .orElse(null);
        String wait = session.query(AWAITED_RUNS)
                .text("project", run.project())
                .uuid("id", run.id().value())
                .first(Explainer::describeWait)
                .orElse(null);
        WorkflowWait workflow = session.query(WORKFLOW_WAIT)
                .text("project", run.project())
                .uuid("id", run.id().value())
                .first(Explainer::describeWorkflowWait)
                .orElse(null);
        return session.query(RUN_STATE)
                .text("project", run.project())
                .uuid("id", run.id().value())
                .first(row -> explainLive(session, row, run, wait == null ? gate : wait, workflow))
                .orElseGet(() -> new Explanation(run.state(), "It ended during this query; ask again.", List.of()));
    }

    private static Explanation explainEnded(Run run) {
        @Nullable String reason = run.details().reason();
        String why = reason == null ? "." : ": " + ErrorText.firstLine(reason);
        if (run.attempt() == 0)
            return new Explanation(
                    run.state(),
                    "It never started: %s at %s%s"
                            .formatted(run.state().text(), run.instants().endedAt(), why),
                    List.of());
        return new Explanation(
                run.state(),
                "It ended %s at %s, attempt %d%s"
                        .formatted(run.state().text(), run.instants().endedAt(), run.attempt(), why),
                List.of());
    }

    private static String describeGate(Row row) throws SQLException {
        String name = row.text("gate_key");
        String kind = name.substring(0, name.indexOf(':'));
        String key = "overlap".equals(kind)
                ? "its schedule's overlap policy"
                : "the %s key '%s'".formatted(kind, name.substring(kind.length() + 1));
        if ("rate".equals(kind)) {
            String[] parts = name.split(":", 3);
            return "the rate key '%s' allows %s in any period of %s; %s before this run"
                    .formatted(
                            parts[2],
                            count(row.integer("gate_limit"), "start", "starts"),
                            Durations.describe(Duration.ofMillis(Long.parseLong(parts[1]))),
                            count(row.number("ahead"), "run waits", "runs wait"));
        }
        return "%s allows %s at a time; %s passed and not ended, %s before this run"
                .formatted(
                        key,
                        count(row.integer("gate_limit"), "run", "runs"),
                        count(row.number("passed"), "has", "have"),
                        count(row.number("ahead"), "waits", "wait"));
    }

    private static String describeWait(Row row) throws SQLException {
        long others = row.number("runs") - 1;
        return "it waits for the end of run %s".formatted(AttemptRows.runId(row, "first_id"))
                + (others == 0 ? "" : " and of " + count(others, "other run", "other runs"));
    }

    private static WorkflowWait describeWorkflowWait(Row row) throws SQLException {
        String path = row.text("path");
        return switch (row.text("kind")) {
            case "sleep" ->
                new WorkflowWait("it is asleep until %s (sleep '%s')".formatted(row.instant("until"), path), null);
            case "await" -> {
                int hash = path.indexOf('#');
                String signal = hash < 0 ? path : path.substring(0, hash);
                yield new WorkflowWait(
                        "it waits for signal '%s' until %s".formatted(signal, row.instant("until")), signal);
            }
            default -> new WorkflowWait("it waits for the end of run " + path, null);
        };
    }

    private static String count(long number, String singular, String plural) {
        return number + " " + (number == 1 ? singular : plural);
    }

    /**
     * Explains why a run that could start does not: its lane uses its share of the slots, or other queues have
     * a higher weight.
     */
    private static List<String> explainSlots(Session session, Run run, int weight, @Nullable Integer heaviest)
            throws SQLException {
        String queue = run.queue();
        return session.query(SLOT_USE)
                .text("queue", queue)
                .text("project", run.project())
                .text("name", run.target().name())
                .first(row -> {
                    List<String> reasons = new ArrayList<>();
                    if (row.flag("at_lane_share") && !row.flag("busy"))
                        reasons.add(
                                "queue '%s' uses its share of the slots, %d of %d on %d nodes; the rest is for others"
                                        .formatted(
                                                queue, row.number("held"), row.number("slots"), row.number("nodes")));
                    if (row.flag("busy") && heaviest != null && heaviest > weight)
                        reasons.add("all slots are taken, and queue '%s' has weight %d while others have up to %d"
                                .formatted(queue, weight, heaviest));
                    return reasons;
                })
                .orElse(List.of());
    }

    private static Explanation explainLive(
            Session session, Row row, Run run, @Nullable String gate, @Nullable WorkflowWait workflow)
            throws SQLException {
        List<String> reasons = new ArrayList<>();
        if (row.flag("cancelling")) reasons.add("a cancel was requested and its node has not stopped it yet");
        if (run.state() == RunState.RUNNING) {
            if ("awaiting".equals(row.maybeText("parked")))
                return new Explanation(
                        run.state(),
                        "Attempt %d is open until a callback completes it or its time is over."
                                .formatted(run.attempt()),
                        reasons);
            UUID node = row.maybeUuid("node");
            if (row.maybeInstant("dead_at") != null)
                reasons.add("its node died; it will be tried again within seconds");
            return new Explanation(
                    run.state(),
                    node == null
                            ? "A call of runDue executes it, attempt %d.".formatted(run.attempt())
                            // By its id: names, hosts and process ids are not for the tenants of a server.
                            : "It runs on node %s, attempt %d.".formatted(PublicId.ofNode(node), run.attempt()),
                    reasons);
        }
        if (workflow != null) reasons.add(workflow.reason());
        if (row.flag("late"))
            reasons.add("no node started it before %s; the missed policy of its schedule decides at the next planning"
                    .formatted(row.instant("start_by")));
        if (row.maybeInstant("paused_at") != null) reasons.add(describePause(run.queue(), row));
        if (row.flag("breaker_open")) reasons.add(describeBreaker(run.queue(), row));
        if (row.flag("lane_full"))
            reasons.add("queue '%s' has reached its limit of %d running at a time"
                    .formatted(run.queue(), row.integer("max_running")));
        if (!row.flag("has_live_handler"))
            reasons.add("no live node has a handler named '" + run.target().name() + "'");
        if ("isolated".equals(row.maybeText("parked")))
            reasons.add("its node died while it held the run; the run waits to be tried in isolation");
        if (workflow == null) addTimes(reasons, row, run, gate);
        Double rate = row.maybeReal("rate");
        if (rate != null && reasons.isEmpty())
            reasons.add("queue '%s' is limited to %s starts per second".formatted(run.queue(), rate));
        if (reasons.isEmpty())
            reasons.addAll(explainSlots(session, run, row.integer("weight"), row.maybeInteger("max_weight")));
        String summary =
                reasons.isEmpty() ? "It is ready and waits for a free slot." : "It waits: " + reasons.get(0) + ".";
        return new Explanation(
                run.state(), summary + describeFailures(run), reasons, workflow == null ? null : workflow.signal());
    }

    /** Adds what the run waits for before it is ready. */
    private static void addTimes(List<String> reasons, Row row, Run run, @Nullable String gate) throws SQLException {
        Instant arrival = run.instants().readyAt();
        if (gate != null && arrival != null && arrival.isAfter(row.instant("now")))
            reasons.add((run.failures() == 0 ? "it is due at " : "it is ready at ") + arrival);
        if (gate != null) reasons.add(gate);
        if (row.flag("future") && row.maybeText("parked") == null)
            reasons.add("it is ready at " + row.instant("ready_at"));
    }

    private static String describeFailures(Run run) {
        String lastError = run.details().lastError();
        if (run.failures() == 0 || lastError == null) return "";
        return " %s failed, the last one with: %s.".formatted(count(run.failures(), "attempt", "attempts"), lastError);
    }

    private static String describePause(String queue, Row row) throws SQLException {
        String by = row.maybeText("paused_by");
        String reason = row.maybeText("paused_reason");
        return "queue '%s' is paused since %s".formatted(queue, row.instant("paused_at"))
                + (by == null ? "" : " by " + by)
                + (reason == null ? "" : " (" + reason + ")");
    }

    private static String describeBreaker(String queue, Row row) throws SQLException {
        Instant until = row.maybeInstant("breaker_until");
        return "the breaker of queue '%s' is open because most attempts failed; one run is tried %s"
                .formatted(queue, until == null ? "next" : "at " + until);
    }
}
