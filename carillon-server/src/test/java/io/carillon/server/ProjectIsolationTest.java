package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.internal.value.PublicId;
import io.carillon.server.access.PlaintextApiKey;
import io.carillon.server.openapi.OpenApiDescription;
import io.carillon.server.openapi.SampleRequests;
import java.util.List;
import java.util.UUID;
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
    /** A query with a hash of the rows of the project alpha in each table that has projects. */
    private static final String ROWS_OF_ALL_TABLES = """
            SELECT 'SELECT string_agg(hash, '' '') FROM (' || string_agg(format(
                     'SELECT %L || count(*) || '' '' || md5(coalesce(string_agg(t::text, '','' ORDER BY t::text), ''''))
                          AS hash
                        FROM carillon.%I t WHERE project = ''alpha''', c.relname || ' ', c.relname), ' UNION ALL '
                     ORDER BY c.relname) || ') tables'
              FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
              JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'project' AND NOT a.attisdropped
             WHERE n.nspname = 'carillon' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            """;

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static String alpha;
    private static String beta;
    private static String run;
    private static String bulk;
    private static String event;
    private static String member;

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
        event = SERVER.post(
                        alpha,
                        "/v1/events",
                        "{\"topic\":\"secret\",\"type\":\"t\",\"key\":\"k\",\"data\":\"hidden\",\"publishId\":\"p\","
                                + "\"versions\":true}")
                .requireStatus(201)
                .at("/event");
        SERVER.post(
                        alpha,
                        "/v1/subscriptions",
                        "{\"name\":\"secret\",\"topic\":\"secret\",\"target\":{\"handler\":\"hidden\"},"
                                + "\"start\":\"beginning\"}")
                .requireStatus(201);
        SERVER.database()
                .execute("INSERT INTO carillon.event_relay (project, name, topic, destination, cursor_snapshot,"
                        + " cursor_seq)"
                        + " VALUES ('alpha', 'secret', 'hidden', 'kafka:hidden', 0, 9223372036854775807)");
        SERVER.database()
                .execute("INSERT INTO carillon.event_source (project, name, part, next_position)"
                        + " VALUES ('alpha', 'secret', 'hidden-0', 1)");
        SERVER.database()
                .execute("INSERT INTO carillon.app_user (id, issuer, subject, name)"
                        + " VALUES ('01a00000-0000-7000-8000-000000000001', 'https://id.example', "
                        + "'ann', 'hidden Ann')");
        member = PublicId.format("usr", UUID.fromString("01a00000-0000-7000-8000-000000000001"));
        SERVER.post(alpha, "/v1/members", "{\"user\":\"%s\",\"role\":\"viewer\"}".formatted(member))
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

    private static String rowsOfAlpha() {
        return SERVER.query(SERVER.query(ROWS_OF_ALL_TABLES).text()).text();
    }

    @Test
    void the_rows_of_every_table_with_projects_are_compared() {
        assertThat(rowsOfAlpha())
                .contains(
                        "endpoint 1 ",
                        "endpoint_secret 1 ",
                        "bulk_action 1 ",
                        "api_key 1 ",
                        "project 1 ",
                        "project_member 1 ")
                .contains("run ", "schedule ", "lane ", "audit ", "run_history ", "dead_run ", "attempt ")
                .contains("idempotency ", "event_store 1 ", "event_key_version 1 ", "event_subscription 1 ")
                .contains("event_publish_id ", "event_cursor ");
    }

    static Stream<OpenApiDescription.Operation> operations() {
        return OpenApiDescription.instance().operations().stream()
                .filter(operation -> !operation.permission().equals("public"))
                .filter(operation -> !operation.isStream());
    }

    @ParameterizedTest
    @MethodSource("operations")
    void nothing_of_another_project_is_seen_or_changed(OpenApiDescription.Operation operation) {
        String before = rowsOfAlpha();
        List<String> names = List.of(
                "secret", "alpha", PlaintextApiKey.parse(alpha).orElseThrow().id(), bulk, event, member);
        for (String name : names) {
            RestTestServer.Reply reply = SERVER.send(
                    beta,
                    operation.method(),
                    SampleRequests.withRequiredQuery(operation, SampleRequests.path(operation, name, run), name),
                    SampleRequests.body(operation));
            assertThat(reply.text()).as("%s", operation).doesNotContain("hidden", run);
            boolean names_a_thing_of_others =
                    operation.path().contains("{") && !operation.method().equals("PUT");
            if (names_a_thing_of_others && !operation.path().startsWith("/v1/queues"))
                assertThat(reply.status())
                        .as("%s %s: %s", operation, name, reply.text())
                        .isEqualTo(404);
        }
        assertThat(rowsOfAlpha()).as("rows of alpha after " + operation).isEqualTo(before);
        // Deletes the resources that beta created under the same names, so that they do not affect the next operation.
        SERVER.database()
                .execute("DELETE FROM carillon.schedule WHERE project = 'beta';"
                        + " DELETE FROM carillon.run WHERE project = 'beta';"
                        + " DELETE FROM carillon.lane WHERE project = 'beta';"
                        + " DELETE FROM carillon.event_cursor WHERE project = 'beta';"
                        + " DELETE FROM carillon.event_subscription WHERE project = 'beta';"
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
        assertThat(SERVER.get(beta, "/v1/projects").requireStatus(200).text())
                .contains("beta")
                .doesNotContain("alpha", "default");
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
