package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Bulk actions: counted, started, observed, aborted, and continued by another node. */
class BulkActionsTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder.handleReturning(
                    HandlerType.of("never", JsonNode.class), (note, run) -> Outcome.rejected("no")),
            server -> server);

    private static String key() {
        return SERVER.bootstrap();
    }

    private static void enqueue(String queue, int runs, String after) {
        for (int left = runs; left > 0; left -= 1_000)
            SERVER.post(
                            key(),
                            "/v1/runs:batch",
                            "{\"target\":{\"handler\":\"never\"},\"queue\":\"%s\",\"after\":\"%s\",\"runs\":[%s]}"
                                    .formatted(queue, after, "{},".repeat(Math.min(left, 1_000) - 1) + "{}"))
                    .requireStatus(201);
    }

    private static String body(String action, String state, String queue, String more) {
        return "{\"action\":\"%s\",\"filter\":{\"state\":\"%s\",\"queue\":\"%s\"}%s}"
                .formatted(action, state, queue, more);
    }

    private static RestTestServer.Reply awaitEnd(RestTestServer.Reply begun) {
        String path = "/v1/bulk-actions/" + begun.requireStatus(202).at("/id");
        await().atMost(Duration.ofSeconds(20))
                .until(() -> !SERVER.get(key(), path).at("/state").equals("running"));
        return SERVER.get(key(), path).requireStatus(200);
    }

    private static String waiting(String queue) {
        return SERVER.query("SELECT count(*) FROM carillon.run WHERE queue = '" + queue + "'")
                .text();
    }

    @Test
    void counts_starts_and_reports_progress() {
        enqueue("many", 2_500, "1h");
        assertThat(SERVER.post(key(), "/v1/bulk-actions", body("cancel", "waiting", "many", ",\"dryRun\":true"))
                        .requireStatus(200)
                        .at("/matching"))
                .isEqualTo("2500");
        assertThat(waiting("many")).isEqualTo("2500");

        RestTestServer.Reply moved = awaitEnd(SERVER.post(
                key(), "/v1/bulk-actions", body("reschedule", "waiting", "many", ",\"at\":\"2999-01-01T00:00:00Z\"")));
        assertThat(moved.at("/done")).isEqualTo("2500");
        assertThat(moved.at("/at")).isEqualTo("2999-01-01T00:00:00Z");
        RestTestServer.Reply cancelled =
                awaitEnd(SERVER.post(key(), "/v1/bulk-actions", body("cancel", "waiting", "many", "")));

        assertThat(cancelled.at("/state")).isEqualTo("done");
        assertThat(cancelled.at("/done")).isEqualTo("2500");
        assertThat(waiting("many")).isEqualTo("0");
        assertThat(SERVER.get(key(), "/v1/bulk-actions?limit=1")
                        .requireStatus(200)
                        .at("/items/0/id"))
                .isEqualTo(cancelled.at("/id"));
        List<String> lines = List.of("bulk.cancel", "bulk.end");
        for (String line : lines)
            assertThat(SERVER.query(("SELECT count(*) FROM carillon.audit WHERE action = '%s' AND (object = 'bulk/%s'"
                                            + " OR detail ->> 'bulk' = '%s')")
                                    .formatted(line, cancelled.at("/id"), cancelled.at("/id")))
                            .text())
                    .as(line)
                    .isEqualTo("1");
    }

    @Test
    void redrives_and_deletes_dead_runs() {
        enqueue("graves", 3, "0s");
        SERVER.post(key(), "/v1/run-due", "{\"budget\":\"10s\"}").requireStatus(200);
        assertThat(awaitEnd(SERVER.post(key(), "/v1/bulk-actions", body("redrive", "dead", "graves", "")))
                        .at("/done"))
                .isEqualTo("3");
        SERVER.post(key(), "/v1/run-due", "{\"budget\":\"10s\"}").requireStatus(200);
        assertThat(awaitEnd(SERVER.post(key(), "/v1/bulk-actions", body("delete", "dead", "graves", "")))
                        .at("/done"))
                .isEqualTo("3");
    }

    @Test
    void invalid_requests_are_refused() {
        assertThat(SERVER.post(key(), "/v1/bulk-actions", body("redrive", "waiting", "q", ""))
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/filter");
        SERVER.post(key(), "/v1/bulk-actions", body("reschedule", "waiting", "q", ""))
                .requireStatus(422);
        SERVER.post(key(), "/v1/bulk-actions", body("cancel", "waiting", "q", ",\"at\":\"2999-01-01T00:00:00Z\""))
                .requireStatus(422);
        SERVER.get(key(), "/v1/bulk-actions/blk_00000000000000000000000000").requireStatus(404);
        SERVER.post(key(), "/v1/bulk-actions/nothing/abort", null).requireStatus(404);
    }

    @Test
    void is_aborted_and_what_is_done_stays_done() throws Exception {
        enqueue("stopped", 3_000, "1h");
        String path;
        try (Connection owner = SERVER.database().dataSource().getConnection();
                Statement statement = owner.createStatement()) {
            owner.setAutoCommit(false);
            // The lock on the runs prevents that the action ends before it is aborted.
            statement.execute("LOCK TABLE carillon.run IN SHARE MODE");
            path = "/v1/bulk-actions/"
                    + SERVER.post(key(), "/v1/bulk-actions", body("cancel", "waiting", "stopped", ""))
                            .requireStatus(202)
                            .at("/id");
            // While the worker holds the lock of the action, abort fails with 503 after the lock timeout.
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> SERVER.post(key(), path(path, "abort"), null).status() == 200);
            owner.rollback();
        }
        RestTestServer.Reply after = SERVER.get(key(), path).requireStatus(200);
        assertThat(after.at("/state")).isEqualTo("aborted");
        assertThat(after.at("/done")).isEqualTo("0");
        SERVER.post(key(), path(path, "abort"), null).requireStatus(200);
        RestTestServer.Reply over =
                awaitEnd(SERVER.post(key(), "/v1/bulk-actions", body("cancel", "waiting", "stopped", "")));
        assertThat(over.at("/done")).as("no run was changed after the abort").isEqualTo("3000");
        assertThat(SERVER.post(key(), path("/v1/bulk-actions/" + over.at("/id"), "abort"), null)
                        .requireStatus(409)
                        .code())
                .isEqualTo("bulk-ended");
    }

    @Test
    void an_action_that_meets_a_locked_run_does_not_hold_up_the_others() throws Exception {
        enqueue("held", 2, "1h");
        enqueue("free", 3, "1h");
        RestTestServer.Reply held;
        try (Connection owner = SERVER.database().dataSource().getConnection();
                Statement statement = owner.createStatement()) {
            owner.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.run WHERE queue = 'held' ORDER BY id LIMIT 1 FOR UPDATE");
            held = SERVER.post(key(), "/v1/bulk-actions", body("cancel", "waiting", "held", ""));
            RestTestServer.Reply free =
                    awaitEnd(SERVER.post(key(), "/v1/bulk-actions", body("cancel", "waiting", "free", "")));

            assertThat(free.at("/done")).isEqualTo("3");
            assertThat(SERVER.get(key(), "/v1/bulk-actions/" + held.at("/id")).at("/state"))
                    .isEqualTo("running");
            owner.rollback();
        }
        assertThat(awaitEnd(held).at("/done")).isEqualTo("2");
    }

    @Test
    void two_actions_that_undo_each_other_visit_each_run_once_and_end() {
        enqueue("contested", 2_500, "1h");
        RestTestServer.Reply one = SERVER.post(
                key(),
                "/v1/bulk-actions",
                body("reschedule", "waiting", "contested", ",\"at\":\"2998-01-01T00:00:00Z\""));
        RestTestServer.Reply other = SERVER.post(
                key(),
                "/v1/bulk-actions",
                body("reschedule", "waiting", "contested", ",\"at\":\"2999-01-01T00:00:00Z\""));

        for (RestTestServer.Reply begun : List.of(one, other)) {
            RestTestServer.Reply ended = awaitEnd(begun);
            assertThat(ended.at("/state")).isEqualTo("done");
            assertThat(ended.at("/done")).isEqualTo("2500");
        }
    }

    @Test
    void a_project_has_at_most_five_running_actions() throws Exception {
        String many = SERVER.createProject("many-actions");
        String other = SERVER.createProject("other-actions");
        String cancel = body("cancel", "waiting", "q", "");
        for (String caller : List.of(many, other))
            SERVER.post(caller, "/v1/runs", "{\"target\":{\"handler\":\"never\"},\"queue\":\"q\",\"after\":\"1h\"}")
                    .requireStatus(201);
        try (Connection owner = SERVER.database().dataSource().getConnection();
                Statement statement = owner.createStatement()) {
            owner.setAutoCommit(false);
            // No action can end while the runs are locked.
            statement.execute(
                    "SELECT 1 FROM carillon.run WHERE project IN ('many-actions', 'other-actions') FOR UPDATE");
            for (int i = 0; i < 5; i++)
                SERVER.post(many, "/v1/bulk-actions", cancel).requireStatus(202);

            RestTestServer.Reply refused =
                    SERVER.post(many, "/v1/bulk-actions", cancel).requireStatus(429);
            assertThat(refused.code()).isEqualTo("quota-exceeded");
            assertThat(refused.at("/detail")).contains("5 running bulk actions");
            SERVER.post(many, "/v1/bulk-actions", body("cancel", "waiting", "q", ",\"dryRun\":true"))
                    .requireStatus(200);
            SERVER.post(other, "/v1/bulk-actions", cancel).requireStatus(202);
            SERVER.put(SERVER.bootstrap(), "/v1/projects/many-actions/quota", "{\"maxBulkActions\":6}")
                    .requireStatus(200);
            SERVER.post(many, "/v1/bulk-actions", cancel).requireStatus(202);
            owner.rollback();
        }
    }

    @Test
    void many_blocked_actions_of_one_project_do_not_delay_another_project() throws Exception {
        String blocked = SERVER.createProject("blocked");
        String other = SERVER.createProject("unblocked");
        String run = "{\"target\":{\"handler\":\"never\"},\"queue\":\"q\",\"after\":\"1h\"}";
        SERVER.post(blocked, "/v1/runs", run).requireStatus(201);
        SERVER.post(other, "/v1/runs", run).requireStatus(201);
        try (Connection owner = SERVER.database().dataSource().getConnection();
                Statement statement = owner.createStatement()) {
            owner.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.run WHERE project = 'blocked' FOR UPDATE");
            String id = SERVER.post(blocked, "/v1/bulk-actions", body("cancel", "waiting", "q", ""))
                    .requireStatus(202)
                    .at("/id");
            SERVER.database().execute("""
                    INSERT INTO carillon.bulk_action (project, id, action, run_state, after_id, last_id, actor,
                      request_id, created_at)
                    SELECT project, gen_random_uuid(), action, run_state, after_id, last_id, actor, request_id,
                      created_at
                      FROM carillon.bulk_action, generate_series(1, 150) WHERE project = 'blocked'
                    """);

            RestTestServer.Reply begun = SERVER.post(other, "/v1/bulk-actions", body("cancel", "waiting", "q", ""));
            String path = "/v1/bulk-actions/" + begun.requireStatus(202).at("/id");
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> SERVER.get(other, path).at("/state").equals("done"));

            assertThat(SERVER.get(other, path).at("/done")).isEqualTo("1");
            assertThat(SERVER.get(blocked, "/v1/bulk-actions/" + id).at("/state"))
                    .isEqualTo("running");
            owner.rollback();
        }
        SERVER.database().execute("UPDATE carillon.bulk_action SET state = 'aborted' WHERE project = 'blocked'");
    }

    private static String path(String action, String verb) {
        return action + "/" + verb;
    }
}
