package io.carillon.server.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.server.RestTestServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** The audit log shows the scopes of keys, targets, runs of due work, and refused requests. */
class DenialAuditTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    @Test
    void a_forbidden_request_is_recorded_in_the_project_of_its_caller() {
        String admin = SERVER.createProject("curious");
        String key = SERVER.createKeyAs(admin, "read");
        SERVER.get(key, "/v1/keys").requireStatus(403);
        SERVER.get(admin, "/v1/nodes").requireStatus(403);

        JsonNode entries = entries(admin, "request.forbidden", 2);
        assertThat(entries.at("/1/actor").stringValue()).isEqualTo("key " + id(key));
        assertThat(entries.at("/1/object").stringValue()).isEqualTo("GET /v1/keys");
        assertThat(entries.at("/1/detail/address").stringValue()).isEqualTo("127.0.0.1");
        assertThat(entries.at("/0/object").stringValue()).isEqualTo("GET /v1/nodes");
    }

    @Test
    void an_invalid_key_is_recorded_in_its_project_and_an_unknown_one_in_the_default_project() {
        String admin = SERVER.createProject("leaky");
        String key = SERVER.createKeyAs(admin, "read");
        SERVER.delete(admin, "/v1/keys/" + id(key)).requireStatus(204);
        SERVER.get(key, "/v1/stats").requireStatus(401);
        SERVER.get(new KeyIssuer(new byte[32]).generate().text(), "/v1/runs").requireStatus(401);

        assertThat(entries(admin, "request.unauthenticated", 1).at("/0/actor").stringValue())
                .isEqualTo("key " + id(key));
        JsonNode unknown = entries(SERVER.bootstrap(), "request.unauthenticated", 1);
        assertThat(unknown.at("/0/actor").stringValue()).isEqualTo("unknown");
        assertThat(unknown.toString()).doesNotContain("crl_");
    }

    @Test
    void refused_requests_do_not_fill_the_table() {
        String admin = SERVER.createProject("noisy");
        String key = SERVER.createKeyAs(admin, "read");
        for (int i = 0; i < 60; i++) SERVER.get(key, "/v1/keys").requireStatus(403);

        entries(admin, "request.forbidden", 20);
        SERVER.get(key, "/v1/keys").requireStatus(403);
        assertThat(SERVER.query("SELECT count(*) FROM carillon.audit WHERE project = 'noisy'"
                                + " AND action = 'request.forbidden'")
                        .number())
                .isBetween(20L, 21L);
    }

    @Test
    void refusals_do_not_wait_for_their_entries_and_those_that_are_too_many_are_counted() throws SQLException {
        String admin = SERVER.createProject("waiting");
        String key = SERVER.createKeyAs(admin, "read");
        int refusals = DenialAudit.MAX_QUEUED + 50;
        double before = dropped();
        try (Connection other = SERVER.database().pool(1).getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("LOCK TABLE carillon.audit IN SHARE ROW EXCLUSIVE MODE");
            for (int i = 0; i < refusals; i++) SERVER.get(key, "/v1/keys").requireStatus(403);
            assertThat(dropped() - before).isGreaterThan(0);
            other.rollback();
        }

        await().until(
                        () -> SERVER.query("SELECT max((detail ->> 'omitted')::int) FROM carillon.audit"
                                        + " WHERE project = 'waiting'")
                                .text(),
                        omitted -> omitted != null && Integer.parseInt(omitted) > 0);
    }

    private static double dropped() {
        return SERVER.get(SERVER.bootstrap(), "/metrics")
                .requireStatus(200)
                .text()
                .lines()
                .filter(line -> line.startsWith("carillon_audit_dropped_total "))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.indexOf(' '))))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shows_the_scopes_and_limits_of_keys() {
        String admin = SERVER.createProject("scoped");
        String key = SERVER.post(
                        admin,
                        "/v1/keys",
                        "{\"name\":\"k\",\"scopes\":[\"read\",\"enqueue\"],\"expiresAt\":\"2999-01-01T00:00:00Z\"}")
                .requireStatus(201)
                .at("/key");
        SERVER.post(admin, "/v1/keys/" + id(key) + "/rotate", null).requireStatus(201);

        for (String action : new String[] {"key.make", "key.rotate"}) {
            JsonNode made = entries(admin, action, 1);
            assertThat(made.at("/0/detail/scopes").stringValue()).isEqualTo("read enqueue");
            assertThat(made.at("/0/detail/expiresAt").stringValue()).isEqualTo("2999-01-01T00:00:00Z");
        }
    }

    @Test
    void shows_the_target_of_a_schedule_and_runs_of_due_work() {
        String admin = SERVER.createProject("aimed");
        SERVER.put(
                        admin,
                        "/v1/schedules/hook",
                        "{\"when\":{\"cron\":\"0 2 * * *\"},"
                                + "\"target\":{\"url\":\"https://a.example/secret-path?x=1\"}}")
                .requireStatus(201);
        SERVER.runDue();

        JsonNode put = entries(admin, "schedule.put", 1);
        assertThat(put.at("/0/detail/target").stringValue())
                .contains("webhook/", "a.example")
                .doesNotContain("secret-path");
        assertThat(entries(SERVER.bootstrap(), "run-due", 1).at("/0/detail").has("processed"))
                .isTrue();
    }

    /** Waits until the audit log has so many entries of this action, and returns them, newest first. */
    private static JsonNode entries(String admin, String action, int count) {
        return await().until(
                        () -> SERVER.get(admin, "/v1/audit?limit=200&action=" + action)
                                .requireStatus(200)
                                .json()
                                .path("items"),
                        items -> items.size() >= count);
    }

    private static String id(String key) {
        return PlaintextApiKey.parse(key).orElseThrow().id();
    }
}
