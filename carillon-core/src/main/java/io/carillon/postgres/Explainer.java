package io.carillon.postgres;

import io.carillon.run.ErrorText;
import io.carillon.run.Explanation;
import io.carillon.run.Run;
import io.carillon.run.RunState;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Says in plain words why a run is where it is. */
final class Explainer {
    private static final String HOLDS = """
            SELECT carillon.clock() AS now, r.ready_at, r.parked, r.ready_at > carillon.clock() AS future, r.start_by,
                   r.start_by <= carillon.clock() AS late, l.paused_at, l.paused_by, l.paused_reason,
                   l.max_running, l.rate, coalesce(l.weight, 1) AS weight, (SELECT max(weight) FROM carillon.lane) AS heaviest, l.breaker <> 'closed' AS broken, l.breaker_until,
                   l.max_running <= (SELECT count(*) FROM carillon.run h WHERE h.project = l.project AND h.limited_by = l.queue) AS lane_full,
                   n.name AS node, n.host, n.pid, n.dead_at,
                   EXISTS (SELECT 1 FROM carillon.node k WHERE k.dead_at IS NULL AND r.target_name = ANY (k.handlers)) AS known,
                   EXISTS (SELECT 1 FROM carillon.cancel_request c WHERE c.project = r.project AND c.run_id = r.id) AS cancelling
              FROM carillon.run r
              LEFT JOIN carillon.lane l ON l.queue = r.queue AND l.project = r.project
              LEFT JOIN carillon.node n ON n.id = r.owner
             WHERE r.project = :project AND r.id = :id
            """;

    private static final String BEFORE_GATE = """
            SELECT r.gate_key, coalesce(r.gate_max, 1) AS most,
                   (SELECT count(*) FROM (SELECT 1 FROM carillon.run t
                                           WHERE t.project = r.project AND t.gate_key = r.gate_key AND t.seq IS NULL LIMIT 1000) x) AS through,
                   (SELECT count(*) FROM (SELECT 1 FROM carillon.run a
                                           WHERE a.project = r.project AND a.gate_key = r.gate_key AND a.seq < r.seq LIMIT 1000) x) AS ahead
              FROM carillon.run r
             WHERE r.project = :project AND r.id = :id AND r.parked = 'gate'
            """;

    // What a node holds of a lane is parked, or lies at the head of its handler's runs. Of the waiting ones only those
    // of
    // this handler are read: their order is the index's.
    private static final String SLOTS = """
            SELECT count(*) AS nodes, sum(n.slots) AS slots, sum(mine.runs) AS held,
                   coalesce(bool_and(n.busy >= n.slots), false) AS busy, coalesce(bool_and(mine.runs >= greatest(n.slots * 9 / 10, 1)), false) AS narrow
              FROM carillon.node n,
                   LATERAL (SELECT count(*) AS runs
                              FROM (SELECT head.owner
                                      FROM generate_series(0, 3) AS c(class),
                                           LATERAL (SELECT r.owner FROM carillon.run r
                                                     WHERE r.queue = :queue AND r.project = :project AND r.class = c.class
                                                       AND r.target_name = :name AND r.ready_at <= carillon.clock()
                                                     ORDER BY r.ready_at LIMIT 2000) head
                                    UNION ALL
                                    SELECT p.owner FROM carillon.run p
                                     WHERE p.parked = 'running' AND p.queue = :queue AND p.project = :project) held
                             WHERE held.owner = n.id) mine
             WHERE n.dead_at IS NULL AND :name = ANY (n.handlers)
            """;

    private Explainer() {}

    static Explanation explain(Session session, Run run) throws SQLException {
        if (run.instants().endedAt() != null) return ended(run);
        String gate = session.query(BEFORE_GATE)
                .text("project", run.lane().project())
                .uuid("id", run.id().value())
                .first(Explainer::beforeGate)
                .orElse(null);
        return session.query(HOLDS)
                .text("project", run.lane().project())
                .uuid("id", run.id().value())
                .first(row -> living(session, row, run, gate))
                .orElseGet(() -> new Explanation(run.state(), "It ended while we looked; ask again.", List.of()));
    }

    private static Explanation ended(Run run) {
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

    private static String beforeGate(Row row) throws SQLException {
        String name = row.text("gate_key");
        String kind = name.substring(0, name.indexOf(':'));
        String key = "overlap".equals(kind)
                ? "its schedule's overlap policy"
                : "the %s key '%s'".formatted(kind, name.substring(kind.length() + 1));
        if ("rate".equals(kind)) {
            String[] parts = name.split(":", 3);
            return "the rate key '%s' lets %d start in any %s, and %d wait before it"
                    .formatted(
                            parts[2],
                            row.integer("most"),
                            Duration.ofMillis(Long.parseLong(parts[1])),
                            row.number("ahead"));
        }
        return "%s lets %d through at a time; %d of them have not ended, and %d wait before it"
                .formatted(key, row.integer("most"), row.number("through"), row.number("ahead"));
    }

    /** Why a run that could start does not: its lane has its share of the slots, or others weigh more. */
    private static List<String> slots(Session session, Run run, int weight, @Nullable Integer heaviest)
            throws SQLException {
        String queue = run.lane().queue();
        return session.query(SLOTS)
                .text("queue", queue)
                .text("project", run.lane().project())
                .text("name", run.target().name())
                .first(row -> {
                    List<String> holds = new ArrayList<>();
                    if (row.flag("narrow") && !row.flag("busy"))
                        holds.add(
                                "queue '%s' has its share of the slots, %d of %d on %d nodes; the rest is kept for other queues"
                                        .formatted(
                                                queue, row.number("held"), row.number("slots"), row.number("nodes")));
                    if (row.flag("busy") && heaviest != null && heaviest > weight)
                        holds.add("all slots are taken, and queue '%s' weighs %d where others weigh up to %d"
                                .formatted(queue, weight, heaviest));
                    return holds;
                })
                .orElse(List.of());
    }

    private static Explanation living(Session session, Row row, Run run, @Nullable String gate) throws SQLException {
        List<String> holds = new ArrayList<>();
        if (row.flag("cancelling")) holds.add("a cancel was asked for and its node has not stopped it yet");
        if (run.state() == RunState.RUNNING) {
            if ("awaiting".equals(row.maybeText("parked")))
                return new Explanation(
                        run.state(),
                        "Somebody outside goes on with it; attempt %d is open until that one completes it or its time is over."
                                .formatted(run.attempt()),
                        holds);
            String node = row.maybeText("node");
            if (row.maybeInstant("dead_at") != null) holds.add("its node died; it will be tried again within seconds");
            return new Explanation(
                    run.state(),
                    node == null
                            ? "It runs under a lease of its own."
                            : "It runs on node %s (%s, process %d), attempt %d."
                                    .formatted(node, row.text("host"), row.number("pid"), run.attempt()),
                    holds);
        }
        if (row.flag("late"))
            holds.add("nobody started it before %s; the missed policy of its schedule decides at the next planning"
                    .formatted(row.instant("start_by")));
        if (row.maybeInstant("paused_at") != null)
            holds.add("queue '%s' is paused since %s by %s (%s)"
                    .formatted(
                            run.lane().queue(),
                            row.instant("paused_at"),
                            row.maybeText("paused_by"),
                            row.maybeText("paused_reason")));
        if (row.flag("broken"))
            holds.add("most attempts in queue '%s' failed; one is tried at %s"
                    .formatted(run.lane().queue(), row.maybeInstant("breaker_until")));
        if (row.flag("lane_full"))
            holds.add("queue '%s' lets %d run at a time, and so many do"
                    .formatted(run.lane().queue(), row.integer("max_running")));
        if (!row.flag("known"))
            holds.add("no living node has a handler named '" + run.target().name() + "'");
        if ("suspect".equals(row.maybeText("parked")))
            holds.add("its node died while it was held; it is tried alone, one such run on each node at a time");
        if (gate != null && run.instants().dueAt().isAfter(row.instant("now")))
            holds.add("it is due at " + run.instants().dueAt());
        if (gate != null) holds.add(gate);
        if (row.flag("future") && row.maybeText("parked") == null)
            holds.add("it is ready at " + row.instant("ready_at"));
        Double rate = row.maybeReal("rate");
        if (rate != null && holds.isEmpty())
            holds.add(
                    "queue '%s' lets %s start in a second".formatted(run.lane().queue(), rate));
        if (holds.isEmpty()) holds.addAll(slots(session, run, row.integer("weight"), row.maybeInteger("heaviest")));
        String summary = holds.isEmpty() ? "It is ready and waits for a free slot." : "It waits: " + holds.get(0) + ".";
        return new Explanation(run.state(), summary, holds);
    }
}
