package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.access.KeyText;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every acknowledged change has one line in the audit log, every refused one none, and quotas are kept. */
class AuditTest {
    @RegisterExtension
    static final Served SERVED = new Served();

    /** Without those that tell of the end of something begun before. */
    private static int lines() {
        return Integer.parseInt(SERVED.one("SELECT count(*) FROM carillon.audit WHERE action <> 'bulk.end'"));
    }

    @Test
    void each_acknowledged_change_is_written_down_once_and_refused_ones_not() {
        String key = SERVED.project("audited");
        for (Contract.Operation operation : Contract.the().operations()) {
            if (operation.method().equals("GET")) continue;
            String id = operation.node().path("operationId").stringValue("");
            // What reads or executes changes nothing that somebody decided about.
            if (id.equals("previewSchedule") || id.equals("tick")) continue;
            SERVED.post(key, "/v1/secrets", "{\"name\":\"one\"}");
            SERVED.put(key, "/v1/schedules/one", "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"a\"}}");
            SERVED.put(key, "/v1/queues/one/limits", "{}");
            String run = SERVED.post(key, "/v1/runs", "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}")
                    .at("/run");
            boolean ofHouse = operation.path().startsWith("/v1/projects") || id.equals("reEncryptSecrets");
            String named = operation.path().startsWith("/v1/keys")
                    ? KeyText.parse(SERVED.keyBy(key, "read")).orElseThrow().id()
                    : ofHouse ? "audited" : "one";
            String caller = ofHouse ? SERVED.bootstrap() : key;
            int before = lines();

            Served.Reply reply = SERVED.send(
                    caller, operation.method(), Samples.path(operation, named, run), Samples.body(operation));

            assertThat(lines() - before).as("%s: %s", operation, reply.text()).isEqualTo(reply.status() < 300 ? 1 : 0);
            int after = lines();
            SERVED.send(
                    caller,
                    operation.method(),
                    Samples.path(operation, "none"),
                    Samples.wrong(operation) == null ? null : "{");
            assertThat(lines()).as("%s refused", operation).isEqualTo(after);
        }
    }

    @Test
    void says_who_did_what_to_which_and_under_which_request() {
        String key = SERVED.project("told");
        SERVED.send(
                        key,
                        "PUT",
                        "/v1/schedules/nightly",
                        "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"a\"}}",
                        "X-Request-Id",
                        "asked-1")
                .is(201);
        SERVED.post(key, "/v1/schedules/nightly/pause", "{\"reason\":\"because\"}")
                .is(200);
        Served.Reply log = SERVED.get(key, "/v1/audit").is(200);
        assertThat(log.at("/items/0/action")).isEqualTo("schedule.pause");
        assertThat(log.at("/items/0/detail/reason")).isEqualTo("because");
        assertThat(log.at("/items/1/object")).isEqualTo("schedule/nightly");
        assertThat(log.at("/items/1/requestId")).isEqualTo("asked-1");
        assertThat(log.at("/items/1/actor"))
                .isEqualTo("key " + KeyText.parse(key).orElseThrow().id());
        assertThat(SERVED.get(key, "/v1/audit?action=schedule.put")
                        .is(200)
                        .json()
                        .path("items"))
                .hasSize(1);
        Served.Reply page = SERVED.get(key, "/v1/audit?limit=1").is(200);
        assertThat(SERVED.get(key, "/v1/audit?limit=1&cursor=" + page.at("/next"))
                        .is(200)
                        .at("/items/0/action"))
                .isEqualTo("schedule.put");
    }

    @Test
    void lines_older_than_a_year_are_removed_in_parts_and_no_others() {
        SERVED.project("old");
        SERVED.project("older");
        String lines = """
                INSERT INTO carillon.audit (project, id, at, actor, action, object, request)
                SELECT p, (lpad(to_hex((extract(epoch FROM carillon.clock() - interval '%d days') * 1000)::bigint + i), 12, '0') || '7000'
                           || lpad(to_hex(i), 16, '8'))::uuid, carillon.clock() - interval '%d days', 'somebody', 'aged', 'x', 'r'
                  FROM unnest(ARRAY['old', 'older']) p, generate_series(1, %d) i
                """;
        SERVED.database().execute(lines.formatted(366, 366, 2_500));
        SERVED.database().execute(lines.formatted(364, 364, 3));
        int others = lines() - 5_006;

        SERVED.server().tidy();

        assertThat(SERVED.one("SELECT count(*) FROM carillon.audit WHERE action = 'aged'"))
                .isEqualTo("6");
        assertThat(lines()).isEqualTo(others + 6);
    }

    @Test
    void quotas_are_kept_and_concern_one_project() {
        String small = SERVED.project("small");
        String large = SERVED.project("large");
        SERVED.put(
                        SERVED.bootstrap(),
                        "/v1/projects/small/quota",
                        "{\"maxSchedules\":1,\"maxWaiting\":4,\"requestsPerSecond\":1000}")
                .is(200);
        String schedule = "{\"when\":{\"once\":\"2999-01-01T00:00:00Z\"},\"target\":{\"handler\":\"a\"}}";
        SERVED.put(small, "/v1/schedules/a", schedule).is(201);
        assertThat(SERVED.put(small, "/v1/schedules/b", schedule).is(429).code())
                .isEqualTo("quota-exceeded");
        SERVED.get(small, "/v1/schedules/b").is(404);
        SERVED.put(small, "/v1/schedules/a", schedule).is(200);
        String run = "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}";
        for (int i = 0; i < 4; i++) SERVED.post(small, "/v1/runs", run).is(201);
        assertThat(SERVED.post(small, "/v1/runs", run).is(429).header("Retry-After"))
                .isPresent();
        for (int i = 0; i < 6; i++) SERVED.post(large, "/v1/runs", run).is(201);
        SERVED.put(SERVED.bootstrap(), "/v1/projects/small/quota", "{\"maxSchedules\":1,\"maxWaiting\":5}")
                .is(200);
        SERVED.post(small, "/v1/runs", run).is(201);
        SERVED.post(small, "/v1/runs", run).is(429);
        SERVED.put(SERVED.bootstrap(), "/v1/projects/nobody/quota", "{}").is(404);
        SERVED.put(SERVED.bootstrap(), "/v1/projects/small/quota", "{\"maxSchedules\":-1}")
                .is(422);
    }

    @Test
    void too_many_requests_a_second_are_put_off() {
        String busy = SERVED.project("busy");
        SERVED.put(SERVED.bootstrap(), "/v1/projects/busy/quota", "{\"requestsPerSecond\":3}")
                .is(200);
        int refused = 0;
        for (int i = 0; i < 12; i++) if (SERVED.get(busy, "/v1/stats").status() == 429) refused++;
        assertThat(refused).isPositive();
        SERVED.get(SERVED.bootstrap(), "/v1/stats").is(200);
    }
}
