package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.server.access.KeyText;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What belongs to one project does not exist for the keys of another: over every declared operation, and in every table. */
class TenantWallTest {
    private static final String ROWS = """
            SELECT string_agg(part, ' ') FROM (
              SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) AS part FROM carillon.schedule t WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.run t WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.run_history t WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.dead_run t WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.lane t WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.webhook_secret t WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(k.id || k.scopes::text || coalesce(k.revoked_at::text, '') || coalesce(k.expires_at::text, ''), ','), ''))
                          FROM carillon.api_key k WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.project t WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.bulk_action t WHERE project = 'alpha'
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.audit t WHERE project = 'alpha') parts
            """;

    @RegisterExtension
    static final Served SERVED = new Served();

    private static String alpha;
    private static String beta;
    private static String run;
    private static String bulk;

    @BeforeAll
    static void two_projects() {
        alpha = SERVED.project("alpha");
        beta = SERVED.project("beta");
        SERVED.put(
                        alpha,
                        "/v1/schedules/secret",
                        "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"a\"},\"queue\":\"secret\"}")
                .is(201);
        run = SERVED.post(
                        alpha,
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"hidden\"},\"queue\":\"secret\",\"key\":\"k\",\"after\":\"1h\"}")
                .is(201)
                .at("/run");
        SERVED.put(alpha, "/v1/queues/secret/limits", "{\"maxRunning\":2}").is(200);
        SERVED.post(alpha, "/v1/secrets", "{\"name\":\"secret\"}").is(201);
        bulk = SERVED.post(
                        alpha,
                        "/v1/bulk-actions",
                        "{\"action\":\"redrive\",\"filter\":{\"state\":\"dead\",\"queue\":\"secret\"}}")
                .is(202)
                .at("/id");
        // Its end is written down as well, and shall not look like a change by somebody else.
        await().until(() ->
                !SERVED.get(alpha, "/v1/bulk-actions/" + bulk).at("/state").equals("running"));
    }

    static Stream<Contract.Operation> operations() {
        return Contract.the().operations().stream()
                .filter(operation -> !operation.permission().equals("public"))
                .filter(operation -> !operation.path().equals("/v1/stream"));
    }

    @ParameterizedTest
    @MethodSource("operations")
    void nothing_of_another_project_is_seen_or_changed(Contract.Operation operation) {
        String before = SERVED.one(ROWS);
        List<String> names =
                List.of("secret", "alpha", KeyText.parse(alpha).orElseThrow().id(), bulk);
        for (String name : names) {
            Served.Reply reply =
                    SERVED.send(beta, operation.method(), Samples.path(operation, name, run), Samples.body(operation));
            assertThat(reply.text()).as("%s", operation).doesNotContain("hidden", run);
            boolean names_a_thing_of_others =
                    operation.path().contains("{") && !operation.method().equals("PUT");
            if (names_a_thing_of_others && !operation.path().startsWith("/v1/queues"))
                assertThat(reply.status())
                        .as("%s %s: %s", operation, name, reply.text())
                        .isEqualTo(404);
        }
        assertThat(SERVED.one(ROWS)).as("what alpha has after " + operation).isEqualTo(before);
        // What beta made under the same names is swept away, so that it hides nothing from the next operation.
        SERVED.database()
                .execute(
                        "DELETE FROM carillon.schedule WHERE project = 'beta'; DELETE FROM carillon.run WHERE project = 'beta'; DELETE FROM carillon.lane WHERE project = 'beta'; DELETE FROM carillon.webhook_secret WHERE project = 'beta'");
    }

    @Test
    void lists_hold_the_callers_own_and_cursors_are_not_exchanged() {
        for (int i = 0; i < 3; i++)
            SERVED.put(
                            alpha,
                            "/v1/schedules/more-" + i,
                            "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"a\"}}")
                    .is(201);
        String cursor = SERVED.get(alpha, "/v1/schedules?limit=1").is(200).at("/next");
        SERVED.get(beta, "/v1/schedules?limit=1&cursor=" + cursor).is(400);
        assertThat(SERVED.get(beta, "/v1/schedules").is(200).json().path("items"))
                .isEmpty();
        assertThat(SERVED.get(beta, "/v1/queues").is(200).json().path("items")).isEmpty();
    }

    @Test
    void the_same_names_and_keys_are_free_in_each_project() {
        SERVED.put(beta, "/v1/schedules/secret", "{\"when\":{\"cron\":\"0 3 * * *\"},\"target\":{\"handler\":\"b\"}}")
                .is(201);
        SERVED.post(
                        beta,
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"b\"},\"queue\":\"secret\",\"key\":\"k\",\"after\":\"1h\"}")
                .is(201);
        assertThat(SERVED.get(alpha, "/v1/schedules/secret").at("/when/cron")).isEqualTo("0 2 * * *");
        SERVED.send(
                        alpha,
                        "POST",
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"b\"},\"after\":\"1h\"}",
                        "Idempotency-Key",
                        "same")
                .is(201);
        SERVED.send(
                        beta,
                        "POST",
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"b\"},\"after\":\"1h\"}",
                        "Idempotency-Key",
                        "same")
                .is(201);
    }

    @Test
    void only_keepers_of_the_house_make_and_list_projects() {
        SERVED.get(beta, "/v1/projects").is(403);
        SERVED.post(beta, "/v1/projects", "{\"name\":\"gamma\"}").is(403);
        SERVED.put(beta, "/v1/projects/beta/quota", "{}").is(403);
        SERVED.get(beta, "/metrics").is(403);
        SERVED.post(beta, "/v1/tick", null).is(403);
        SERVED.get(beta, "/v1/projects/beta").is(200);
        SERVED.get(SERVED.bootstrap(), "/v1/projects/alpha").is(200);
        assertThat(SERVED.get(SERVED.bootstrap(), "/v1/projects").is(200).text())
                .contains("alpha", "beta");
        SERVED.post(SERVED.bootstrap(), "/v1/projects", "{\"name\":\"alpha\"}").is(409);
        SERVED.get(SERVED.bootstrap(), "/v1/projects/nobody").is(404);
    }
}
