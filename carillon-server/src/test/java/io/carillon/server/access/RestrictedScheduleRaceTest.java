package io.carillon.server.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.server.RestTestServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A restricted key changes no schedule that another request moves out of its sight at the same time. */
class RestrictedScheduleRaceTest {
    private static final String SCHEDULE =
            "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"a\"},\"queue\":\"mine\"}";

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static String admin;
    private static String key;

    @BeforeAll
    static void create_key() {
        admin = SERVER.createProject("shop");
        key = SERVER.post(admin, "/v1/keys", "{\"name\":\"k\",\"scopes\":[\"manage\"],\"queues\":[\"mine\"]}")
                .requireStatus(201)
                .at("/key");
    }

    @ParameterizedTest
    @CsvSource({"PUT,,403", "DELETE,,404", "POST,/pause,404", "POST,/resume,404", "POST,/trigger,404"})
    void a_schedule_that_is_moved_to_another_queue_meanwhile_is_not_changed(String method, String suffix, int status)
            throws Exception {
        String name =
                "moved-" + method.toLowerCase(java.util.Locale.ROOT) + (suffix == null ? "" : suffix.substring(1));
        SERVER.put(admin, "/v1/schedules/" + name, SCHEDULE).requireStatus(201);
        if ("/resume".equals(suffix))
            SERVER.post(admin, "/v1/schedules/" + name + "/pause", null).requireStatus(200);

        RestTestServer.Reply reply = sendWhile(
                "UPDATE carillon.schedule SET queue = 'hidden', version = version + 1 WHERE name = '" + name + "'",
                method,
                "/v1/schedules/" + name + (suffix == null ? "" : suffix),
                method.equals("PUT") ? SCHEDULE.replace("0 2", "0 3") : null);

        reply.requireStatus(status);
        assertThat(SERVER.query("SELECT queue || ' ' || expression || ' ' || (paused_at IS NULL) FROM carillon.schedule"
                                + " WHERE name = '" + name + "'")
                        .text())
                .isEqualTo("hidden 0 2 * * * " + !"/resume".equals(suffix));
        assertThat(SERVER.query("SELECT count(*) FROM carillon.run r JOIN carillon.schedule s ON s.id = r.schedule_id"
                                + " WHERE s.name = '" + name + "' AND origin = 'trigger'")
                        .number())
                .isZero();
    }

    @Test
    void a_schedule_that_is_created_in_another_queue_meanwhile_is_not_replaced() throws Exception {
        SERVER.put(admin, "/v1/schedules/sample", SCHEDULE.replace("mine", "hidden"))
                .requireStatus(201);

        RestTestServer.Reply reply = sendWhile(
                "CREATE TEMPORARY TABLE fresh ON COMMIT DROP AS"
                        + " SELECT * FROM carillon.schedule WHERE name = 'sample';"
                        + " UPDATE fresh SET name = 'fresh', id = gen_random_uuid();"
                        + " INSERT INTO carillon.schedule SELECT * FROM fresh",
                "PUT",
                "/v1/schedules/fresh",
                SCHEDULE);

        assertThat(reply.requireStatus(409).code()).isEqualTo("schedule-exists");
        SERVER.put(key, "/v1/schedules/fresh", SCHEDULE).requireStatus(403);
        assertThat(SERVER.query("SELECT queue FROM carillon.schedule WHERE name = 'fresh'")
                        .text())
                .isEqualTo("hidden");
    }

    /** Sends a request of the restricted key that waits for an uncommitted change, and commits the change. */
    private static RestTestServer.Reply sendWhile(String change, String method, String path, String body)
            throws SQLException {
        try (Connection owner = SERVER.database().dataSource().getConnection();
                Statement statement = owner.createStatement()) {
            owner.setAutoCommit(false);
            statement.execute(change);
            CompletableFuture<RestTestServer.Reply> reply =
                    CompletableFuture.supplyAsync(() -> SERVER.send(key, method, path, body));
            await().until(() -> reply.isDone()
                    || SERVER.query("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                                            + " AND datname = current_database()")
                                    .number()
                            > 0);
            owner.commit();
            return reply.join();
        }
    }
}
