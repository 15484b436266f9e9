package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.server.access.PlaintextApiKey;
import io.carillon.server.openapi.OpenApiDescription;
import io.carillon.server.openapi.SampleRequests;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * To the keys of one project, resources of another project do not exist: checked for every declared operation
 * and every table.
 */
class ProjectIsolationTest {
    private static final String ROWS = """
            SELECT string_agg(part, ' ') FROM (
              SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) AS part FROM carillon.schedule t
                WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.run t
                WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.run_history t
                WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.dead_run t
                WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.lane t
                WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), ''))
                FROM carillon.endpoint t WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), ''))
                FROM carillon.endpoint_secret t WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(k.id || k.scopes::text || coalesce(k.revoked_at::text, '')
                || coalesce(k.expires_at::text, ''), ','), ''))
                          FROM carillon.api_key k WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.project t
                WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.bulk_action t
                WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.audit t
                WHERE project = 'alpha') parts
            """;

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static String alpha;
    private static String beta;
    private static String run;
    private static String bulk;

    @BeforeAll
    static void create_two_projects() {
        alpha = SERVER.createProject("alpha");
        beta = SERVER.createProject("beta");
        SERVER.put(
                        alpha,
                        "/v1/schedules/secret",
                        "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"a\"},\"queue\":\"secret\"}")
                .requireStatus(201);
        run = SERVER.post(
                        alpha,
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"hidden\"},\"queue\":\"secret\",\"key\":\"k\",\"after\":\"1h\"}")
                .requireStatus(201)
                .at("/run");
        SERVER.put(alpha, "/v1/queues/secret/limits", "{\"maxRunning\":2}").requireStatus(200);
        SERVER.post(
                        alpha,
                        "/v1/endpoints",
                        "{\"name\":\"secret\",\"url\":\"https://hidden.example/\",\"secrets\":[{\"name\":\"s\"}]}")
                .requireStatus(201);
        bulk = SERVER.post(
                        alpha,
                        "/v1/bulk-actions",
                        "{\"action\":\"redrive\",\"filter\":{\"state\":\"dead\",\"queue\":\"secret\"}}")
                .requireStatus(202)
                .at("/id");
        // Waits for the end of the action: its audit entry must not look like a change by another project.
        await().until(() ->
                !SERVER.get(alpha, "/v1/bulk-actions/" + bulk).at("/state").equals("running"));
    }

    static Stream<OpenApiDescription.Operation> operations() {
        return OpenApiDescription.instance().operations().stream()
                .filter(operation -> !operation.permission().equals("public"))
                .filter(operation -> !operation.path().equals("/v1/stream"));
    }

    @ParameterizedTest
    @MethodSource("operations")
    void nothing_of_another_project_is_seen_or_changed(OpenApiDescription.Operation operation) {
        String before = SERVER.query(ROWS).text();
        List<String> names = List.of(
                "secret", "alpha", PlaintextApiKey.parse(alpha).orElseThrow().id(), bulk);
        for (String name : names) {
            RestTestServer.Reply reply = SERVER.send(
                    beta,
                    operation.method(),
                    SampleRequests.path(operation, name, run),
                    SampleRequests.body(operation));
            assertThat(reply.text()).as("%s", operation).doesNotContain("hidden", run);
            boolean names_a_thing_of_others =
                    operation.path().contains("{") && !operation.method().equals("PUT");
            if (names_a_thing_of_others && !operation.path().startsWith("/v1/queues"))
                assertThat(reply.status())
                        .as("%s %s: %s", operation, name, reply.text())
                        .isEqualTo(404);
        }
        assertThat(SERVER.query(ROWS).text())
                .as("rows of alpha after " + operation)
                .isEqualTo(before);
        // Deletes the resources that beta created under the same names, so that they do not affect the next operation.
        SERVER.database()
                .execute("DELETE FROM carillon.schedule WHERE project = 'beta';"
                        + " DELETE FROM carillon.run WHERE project = 'beta';"
                        + " DELETE FROM carillon.lane WHERE project = 'beta';"
                        + " DELETE FROM carillon.endpoint WHERE project = 'beta'");
    }

    @Test
    void lists_show_the_callers_project_only_and_cursors_of_others_are_refused() {
        for (int i = 0; i < 3; i++)
            SERVER.put(
                            alpha,
                            "/v1/schedules/more-" + i,
                            "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"a\"}}")
                    .requireStatus(201);
        String cursor =
                SERVER.get(alpha, "/v1/schedules?limit=1").requireStatus(200).at("/next");
        SERVER.get(beta, "/v1/schedules?limit=1&cursor=" + cursor).requireStatus(400);
        assertThat(SERVER.get(beta, "/v1/schedules").requireStatus(200).json().path("items"))
                .isEmpty();
        assertThat(SERVER.get(beta, "/v1/queues").requireStatus(200).json().path("items"))
                .isEmpty();
    }

    @Test
    void names_and_keys_are_unique_per_project_only() {
        SERVER.put(beta, "/v1/schedules/secret", "{\"when\":{\"cron\":\"0 3 * * *\"},\"target\":{\"handler\":\"b\"}}")
                .requireStatus(201);
        SERVER.post(
                        beta,
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"b\"},\"queue\":\"secret\",\"key\":\"k\",\"after\":\"1h\"}")
                .requireStatus(201);
        assertThat(SERVER.get(alpha, "/v1/schedules/secret").at("/when/cron")).isEqualTo("0 2 * * *");
        SERVER.send(
                        alpha,
                        "POST",
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"b\"},\"after\":\"1h\"}",
                        "Idempotency-Key",
                        "same")
                .requireStatus(201);
        SERVER.send(
                        beta,
                        "POST",
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"b\"},\"after\":\"1h\"}",
                        "Idempotency-Key",
                        "same")
                .requireStatus(201);
    }

    @Test
    void only_server_admins_create_and_list_projects() {
        SERVER.get(beta, "/v1/projects").requireStatus(403);
        SERVER.post(beta, "/v1/projects", "{\"name\":\"gamma\"}").requireStatus(403);
        SERVER.put(beta, "/v1/projects/beta/quota", "{}").requireStatus(403);
        SERVER.put(beta, "/v1/projects/alpha/settings", "{\"allowAdHocUrls\":false}")
                .requireStatus(404);
        SERVER.get(beta, "/metrics").requireStatus(403);
        SERVER.post(beta, "/v1/run-due", null).requireStatus(403);
        SERVER.get(beta, "/v1/projects/beta").requireStatus(200);
        SERVER.get(SERVER.bootstrap(), "/v1/projects/alpha").requireStatus(200);
        assertThat(SERVER.get(SERVER.bootstrap(), "/v1/projects")
                        .requireStatus(200)
                        .text())
                .contains("alpha", "beta");
        SERVER.post(SERVER.bootstrap(), "/v1/projects", "{\"name\":\"alpha\"}").requireStatus(409);
        SERVER.get(SERVER.bootstrap(), "/v1/projects/unknown").requireStatus(404);
    }
}
