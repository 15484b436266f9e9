package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.access.PlaintextApiKey;
import io.carillon.server.openapi.OpenApiDescription;
import io.carillon.server.openapi.SampleRequests;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every successful change has one audit entry, every rejected change has none, and quotas are enforced. */
class AuditTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    /** Counts audit entries, without those of bulk actions that end later. */
    private static int countAuditLines() {
        return (int) SERVER.query("SELECT count(*) FROM carillon.audit WHERE action <> 'bulk.end'")
                .number();
    }

    @Test
    void each_acknowledged_change_is_written_down_once_and_refused_ones_not() {
        String key = SERVER.createProject("audited");
        for (OpenApiDescription.Operation operation :
                OpenApiDescription.instance().operations()) {
            if (operation.method().equals("GET")) continue;
            String id = operation.node().path("operationId").stringValue("");
            // The first operation only reads; the second succeeds even if there is nothing to revoke. SessionsTest
            // checks the end of a session, which no input makes invalid.
            if (List.of("previewSchedule", "revokeKeyByValue", "endSession").contains(id)) continue;
            SERVER.post(key, "/v1/secrets", "{\"name\":\"one\"}");
            SERVER.put(key, "/v1/schedules/one", "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"a\"}}");
            SERVER.put(key, "/v1/queues/one/limits", "{}");
            String run = SERVER.post(key, "/v1/runs", "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}")
                    .at("/run");
            boolean ofServer =
                    operation.path().startsWith("/v1/projects") || id.equals("reEncryptSecrets") || id.equals("runDue");
            String named = operation.path().startsWith("/v1/keys")
                    ? PlaintextApiKey.parse(SERVER.createKeyAs(key, "read"))
                            .orElseThrow()
                            .id()
                    : ofServer ? "audited" : "one";
            String caller = ofServer ? SERVER.bootstrap() : key;
            int before = countAuditLines();

            RestTestServer.Reply reply = SERVER.send(
                    caller,
                    operation.method(),
                    SampleRequests.path(operation, named, run),
                    SampleRequests.body(operation));

            assertThat(countAuditLines() - before)
                    .as("%s: %s", operation, reply.text())
                    .isEqualTo(reply.status() < 300 ? 1 : 0);
            int after = countAuditLines();
            SERVER.send(
                    caller,
                    operation.method(),
                    SampleRequests.path(operation, "none"),
                    SampleRequests.invalidBody(operation) == null ? null : "{");
            assertThat(countAuditLines()).as("%s refused", operation).isEqualTo(after);
        }
    }

    @Test
    void records_actor_action_object_and_request() {
        String key = SERVER.createProject("told");
        SERVER.send(
                        key,
                        "PUT",
                        "/v1/schedules/nightly",
                        "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"a\"}}",
                        "X-Request-Id",
                        "asked-1")
                .requireStatus(201);
        SERVER.post(key, "/v1/schedules/nightly/pause", "{\"reason\":\"because\"}")
                .requireStatus(200);
        RestTestServer.Reply log = SERVER.get(key, "/v1/audit").requireStatus(200);
        assertThat(log.at("/items/0/action")).isEqualTo("schedule.pause");
        assertThat(log.at("/items/0/detail/reason")).isEqualTo("because");
        assertThat(log.at("/items/1/object")).isEqualTo("schedule/nightly");
        assertThat(log.at("/items/1/requestId")).isEqualTo("asked-1");
        assertThat(log.at("/items/1/actor"))
                .isEqualTo("key " + PlaintextApiKey.parse(key).orElseThrow().id());
        assertThat(SERVER.get(key, "/v1/audit?action=schedule.put")
                        .requireStatus(200)
                        .json()
                        .path("items"))
                .hasSize(1);
        RestTestServer.Reply page = SERVER.get(key, "/v1/audit?limit=1").requireStatus(200);
        assertThat(SERVER.get(key, "/v1/audit?limit=1&cursor=" + page.at("/next"))
                        .requireStatus(200)
                        .at("/items/0/action"))
                .isEqualTo("schedule.put");
    }

    @Test
    void a_filtered_page_reads_a_limited_number_of_entries() {
        String key = SERVER.createProject("filtered");
        SERVER.post(key, "/v1/queues/first/pause", null).requireStatus(200);
        SERVER.database().execute("""
                INSERT INTO carillon.audit (project, id, actor, action, object, request_id)
                SELECT 'filtered', ('ffffffff-ffff-7fff-bfff-' || lpad(to_hex(n), 12, '0'))::uuid, 'test',
                  'queue.limit',
                       'queue/other', 'none' FROM generate_series(1, 10000) n
                """);

        RestTestServer.Reply page =
                SERVER.get(key, "/v1/audit?action=queue.pause").requireStatus(200);

        assertThat(page.json().path("items")).isEmpty();
        page = SERVER.get(key, "/v1/audit?action=queue.pause&cursor=" + page.at("/next"))
                .requireStatus(200);
        assertThat(page.at("/items/0/object")).isEqualTo("queue/first");
        assertThat(page.json().has("next")).isFalse();
        assertThat(SERVER.get(key, "/v1/audit?action=queue.limit&limit=2")
                        .json()
                        .path("items"))
                .hasSize(2);
    }

    @Test
    void a_long_reason_is_cut_in_the_entry() {
        String key = SERVER.createProject("long");
        SERVER.put(key, "/v1/schedules/a", "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"a\"}}")
                .requireStatus(201);
        SERVER.post(key, "/v1/schedules/a/pause", "{\"reason\":\"" + "x".repeat(1_000_000) + "\"}")
                .requireStatus(200);

        assertThat(SERVER.get(key, "/v1/audit?action=schedule.pause").at("/items/0/detail/reason"))
                .startsWith("xxx")
                .hasSizeLessThanOrEqualTo(4_000);
    }

    @Test
    void lines_older_than_a_year_are_removed_in_parts_and_no_others() {
        SERVER.createProject("old");
        SERVER.createProject("older");
        String lines = """
                INSERT INTO carillon.audit (project, id, at, actor, action, object, request_id)
                SELECT p, (lpad(to_hex((extract(epoch FROM carillon.clock() - interval '%d days') * 1000)::bigint + i),
                  12, '0') || '7000'
                           || lpad(to_hex(i), 16, '8'))::uuid, carillon.clock() - interval '%d days', 'tester', 'aged',
                             'x', 'r'
                  FROM unnest(ARRAY['old', 'older']) p, generate_series(1, %d) i
                """;
        SERVER.database().execute(lines.formatted(366, 366, 2_500));
        SERVER.database().execute(lines.formatted(364, 364, 3));
        int others = countAuditLines() - 5_006;

        SERVER.server().deleteExpiredRows();

        assertThat(SERVER.query("SELECT count(*) FROM carillon.audit WHERE action = 'aged'")
                        .text())
                .isEqualTo("6");
        assertThat(countAuditLines()).isEqualTo(others + 6);
    }

    @Test
    void more_expired_idempotency_keys_than_one_statement_removes_are_all_removed_in_one_purge() {
        SERVER.database().execute("""
                INSERT INTO carillon.idempotency (project, key, request_hash, created_at)
                SELECT 'default', 'expired-' || i, ''::bytea, carillon.clock() - interval '25 hours'
                  FROM generate_series(1, 10001) i
                UNION ALL SELECT 'default', 'kept', ''::bytea, carillon.clock() - interval '23 hours'
                """);

        SERVER.server().deleteExpiredRows();

        assertThat(SERVER.query("SELECT key FROM carillon.idempotency WHERE key = 'kept' OR key LIKE 'expired-%'")
                        .text())
                .isEqualTo("kept");
    }

    @Test
    void quotas_are_kept_and_concern_one_project() {
        String small = SERVER.createProject("small");
        String large = SERVER.createProject("large");
        SERVER.put(
                        SERVER.bootstrap(),
                        "/v1/projects/small/quota",
                        "{\"maxSchedules\":1,\"maxWaiting\":4,\"requestsPerSecond\":1000}")
                .requireStatus(200);
        String schedule = "{\"when\":{\"once\":\"2999-01-01T00:00:00Z\"},\"target\":{\"handler\":\"a\"}}";
        SERVER.put(small, "/v1/schedules/a", schedule).requireStatus(201);
        assertThat(SERVER.put(small, "/v1/schedules/b", schedule)
                        .requireStatus(429)
                        .code())
                .isEqualTo("quota-exceeded");
        SERVER.get(small, "/v1/schedules/b").requireStatus(404);
        SERVER.put(small, "/v1/schedules/a", schedule).requireStatus(200);
        String run = "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}";
        for (int i = 0; i < 4; i++) SERVER.post(small, "/v1/runs", run).requireStatus(201);
        assertThat(SERVER.post(small, "/v1/runs", run).requireStatus(429).header("Retry-After"))
                .isPresent();
        for (int i = 0; i < 6; i++) SERVER.post(large, "/v1/runs", run).requireStatus(201);
        SERVER.put(SERVER.bootstrap(), "/v1/projects/small/quota", "{\"maxSchedules\":1,\"maxWaiting\":5}")
                .requireStatus(200);
        SERVER.post(small, "/v1/runs", run).requireStatus(201);
        SERVER.post(small, "/v1/runs", run).requireStatus(429);
        SERVER.put(SERVER.bootstrap(), "/v1/projects/unknown/quota", "{}").requireStatus(404);
        SERVER.put(SERVER.bootstrap(), "/v1/projects/small/quota", "{\"maxSchedules\":-1}")
                .requireStatus(422);
    }

    @Test
    void too_many_requests_a_second_are_refused_with_retry_after() {
        String busy = SERVER.createProject("busy");
        SERVER.put(SERVER.bootstrap(), "/v1/projects/busy/quota", "{\"requestsPerSecond\":3}")
                .requireStatus(200);
        int refused = 0;
        for (int i = 0; i < 12; i++) if (SERVER.get(busy, "/v1/stats").status() == 429) refused++;
        assertThat(refused).isPositive();
        SERVER.get(SERVER.bootstrap(), "/v1/stats").requireStatus(200);
    }
}
