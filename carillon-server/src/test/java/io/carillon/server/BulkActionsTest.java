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

/** Something done to many runs at once: counted, begun, watched, broken off, and gone on with by another node. */
class BulkActionsTest {
    @RegisterExtension
    static final Served SERVED = new Served(
            builder -> builder.handleReturning(
                    HandlerType.of("never", JsonNode.class), (note, run) -> Outcome.rejected("no")),
            server -> server);

    private static String key() {
        return SERVED.bootstrap();
    }

    private static void enqueue(String queue, int runs, String after) {
        for (int left = runs; left > 0; left -= 1_000)
            SERVED.post(
                            key(),
                            "/v1/runs:batch",
                            "{\"target\":{\"handler\":\"never\"},\"queue\":\"%s\",\"after\":\"%s\",\"runs\":[%s]}"
                                    .formatted(queue, after, "{},".repeat(Math.min(left, 1_000) - 1) + "{}"))
                    .is(201);
    }

    private static String body(String action, String state, String queue, String more) {
        return "{\"action\":\"%s\",\"filter\":{\"state\":\"%s\",\"queue\":\"%s\"}%s}"
                .formatted(action, state, queue, more);
    }

    private static Served.Reply ended(Served.Reply begun) {
        String path = "/v1/bulk-actions/" + begun.is(202).at("/id");
        await().atMost(Duration.ofSeconds(20))
                .until(() -> !SERVED.get(key(), path).at("/state").equals("running"));
        return SERVED.get(key(), path).is(200);
    }

    private static String waiting(String queue) {
        return SERVED.one("SELECT count(*) FROM carillon.run WHERE queue = '" + queue + "'");
    }

    @Test
    void counts_begins_and_tells_how_far_it_is() {
        enqueue("many", 2_500, "1h");
        assertThat(SERVED.post(key(), "/v1/bulk-actions", body("cancel", "waiting", "many", ",\"dryRun\":true"))
                        .is(200)
                        .at("/matching"))
                .isEqualTo("2500");
        assertThat(waiting("many")).isEqualTo("2500");

        Served.Reply moved = ended(SERVED.post(
                key(), "/v1/bulk-actions", body("reschedule", "waiting", "many", ",\"at\":\"2999-01-01T00:00:00Z\"")));
        assertThat(moved.at("/done")).isEqualTo("2500");
        assertThat(moved.at("/at")).isEqualTo("2999-01-01T00:00:00Z");
        Served.Reply cancelled = ended(SERVED.post(key(), "/v1/bulk-actions", body("cancel", "waiting", "many", "")));

        assertThat(cancelled.at("/state")).isEqualTo("done");
        assertThat(cancelled.at("/matching")).isEqualTo("2500");
        assertThat(cancelled.at("/done")).isEqualTo("2500");
        assertThat(waiting("many")).isEqualTo("0");
        assertThat(SERVED.get(key(), "/v1/bulk-actions?limit=1").is(200).at("/items/0/id"))
                .isEqualTo(cancelled.at("/id"));
        List<String> lines = List.of("bulk.cancel", "bulk.end");
        for (String line : lines)
            assertThat(SERVED.one(
                            "SELECT count(*) FROM carillon.audit WHERE action = '%s' AND (object = 'bulk/%s' OR detail ->> 'bulk' = '%s')"
                                    .formatted(line, cancelled.at("/id"), cancelled.at("/id"))))
                    .as(line)
                    .isEqualTo("1");
    }

    @Test
    void redrives_and_deletes_the_dead() {
        enqueue("graves", 3, "0s");
        SERVED.post(key(), "/v1/tick", "{\"budget\":\"10s\"}").is(200);
        assertThat(ended(SERVED.post(key(), "/v1/bulk-actions", body("redrive", "dead", "graves", "")))
                        .at("/done"))
                .isEqualTo("3");
        SERVED.post(key(), "/v1/tick", "{\"budget\":\"10s\"}").is(200);
        assertThat(ended(SERVED.post(key(), "/v1/bulk-actions", body("delete", "dead", "graves", "")))
                        .at("/done"))
                .isEqualTo("3");
    }

    @Test
    void what_cannot_be_is_refused() {
        assertThat(SERVED.post(key(), "/v1/bulk-actions", body("redrive", "waiting", "q", ""))
                        .is(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/filter");
        SERVED.post(key(), "/v1/bulk-actions", body("reschedule", "waiting", "q", ""))
                .is(422);
        SERVED.post(key(), "/v1/bulk-actions", body("cancel", "waiting", "q", ",\"at\":\"2999-01-01T00:00:00Z\""))
                .is(422);
        SERVED.get(key(), "/v1/bulk-actions/blk_00000000000000000000000000").is(404);
        SERVED.post(key(), "/v1/bulk-actions/nothing/abort", null).is(404);
    }

    @Test
    void is_broken_off_and_what_is_done_stays_done() throws Exception {
        enqueue("stopped", 3_000, "1h");
        String path;
        try (Connection owner = SERVED.database().dataSource().getConnection();
                Statement statement = owner.createStatement()) {
            owner.setAutoCommit(false);
            // Nobody gets at the runs, so that it cannot be over before it is broken off.
            statement.execute("LOCK TABLE carillon.run IN SHARE MODE");
            path = "/v1/bulk-actions/"
                    + SERVED.post(key(), "/v1/bulk-actions", body("cancel", "waiting", "stopped", ""))
                            .is(202)
                            .at("/id");
            // While a part is being done it is "not now", for as long as locks are waited for.
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> SERVED.post(key(), path(path, "abort"), null).status() == 200);
            owner.rollback();
        }
        Served.Reply after = SERVED.get(key(), path).is(200);
        assertThat(after.at("/state")).isEqualTo("aborted");
        assertThat(after.at("/done")).isEqualTo("0");
        SERVED.post(key(), path(path, "abort"), null).is(200);
        Served.Reply over = ended(SERVED.post(key(), "/v1/bulk-actions", body("cancel", "waiting", "stopped", "")));
        assertThat(over.at("/done"))
                .as("nothing was done after it was broken off")
                .isEqualTo("3000");
        assertThat(SERVED.post(key(), path("/v1/bulk-actions/" + over.at("/id"), "abort"), null)
                        .is(409)
                        .code())
                .isEqualTo("bulk-ended");
    }

    @Test
    void an_action_that_meets_a_locked_run_does_not_hold_up_the_others() throws Exception {
        enqueue("held", 2, "1h");
        enqueue("free", 3, "1h");
        Served.Reply held;
        try (Connection owner = SERVED.database().dataSource().getConnection();
                Statement statement = owner.createStatement()) {
            owner.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.run WHERE queue = 'held' ORDER BY id LIMIT 1 FOR UPDATE");
            held = SERVED.post(key(), "/v1/bulk-actions", body("cancel", "waiting", "held", ""));
            Served.Reply free = ended(SERVED.post(key(), "/v1/bulk-actions", body("cancel", "waiting", "free", "")));

            assertThat(free.at("/done")).isEqualTo("3");
            assertThat(SERVED.get(key(), "/v1/bulk-actions/" + held.at("/id")).at("/state"))
                    .isEqualTo("running");
            owner.rollback();
        }
        assertThat(ended(held).at("/done")).isEqualTo("2");
    }

    private static String path(String action, String verb) {
        return action + "/" + verb;
    }
}
