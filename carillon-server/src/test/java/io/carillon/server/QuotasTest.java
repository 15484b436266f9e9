package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.server.store.ProjectRepository;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** What a project without its own quota may use, and how much work one request may cause. */
class QuotasTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder.handleReturning(
                    HandlerType.of("never", JsonNode.class), (note, run) -> Outcome.rejected("no")),
            server -> server.quota(new ProjectRepository.Quota(1_000d, 2, 3L, 0, 1, 2, 2)));

    private static final String RUN = "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}";
    private static final String SCHEDULE = "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"a\"}}";

    @Test
    void a_server_limits_projects_by_default() {
        assertThat(ProjectRepository.Quota.DEFAULT)
                .isEqualTo(new ProjectRepository.Quota(1_000d, 10_000, 1_000_000L, 5, 20, 1_000, 1_000));
    }

    @Test
    void a_project_without_its_own_quota_has_the_quota_of_the_server() {
        String key = SERVER.createProject("plain");
        for (int i = 0; i < 2; i++)
            SERVER.put(key, "/v1/schedules/s" + i, SCHEDULE).requireStatus(201);
        for (int i = 0; i < 3; i++) SERVER.post(key, "/v1/runs", RUN).requireStatus(201);

        assertThat(SERVER.put(key, "/v1/schedules/s2", SCHEDULE)
                        .requireStatus(429)
                        .at("/detail"))
                .contains("at most 2 schedules");
        assertThat(SERVER.post(key, "/v1/runs", RUN).requireStatus(429).at("/detail"))
                .contains("at most 3 waiting and running runs");
        assertThat(SERVER.post(key, "/v1/bulk-actions", "{\"action\":\"cancel\",\"filter\":{\"state\":\"waiting\"}}")
                        .requireStatus(429)
                        .at("/detail"))
                .contains("at most 0 running bulk actions");
    }

    @Test
    void a_project_may_have_more_than_the_server_allows_by_default() {
        String key = SERVER.createProject("paying");
        assertThat(SERVER.put(
                                SERVER.bootstrap(),
                                "/v1/projects/paying/quota",
                                "{\"maxWaiting\":5,\"maxBulkActions\":1,\"maxStreams\":2}")
                        .requireStatus(200)
                        .at("/quota/maxStreams"))
                .isEqualTo("2");
        for (int i = 0; i < 5; i++) SERVER.post(key, "/v1/runs", RUN).requireStatus(201);
        SERVER.post(key, "/v1/runs", RUN).requireStatus(429);
        SERVER.post(key, "/v1/bulk-actions", "{\"action\":\"cancel\",\"filter\":{\"state\":\"waiting\"}}")
                .requireStatus(202);
        SERVER.put(SERVER.bootstrap(), "/v1/projects/paying/quota", "{\"maxBulkActions\":-1}")
                .requireStatus(422);
    }

    @Test
    void a_project_has_a_limited_number_of_endpoints() {
        String key = SERVER.createProject("receiving");
        String endpoint = "{\"name\":\"e%d\",\"url\":\"https://a.example/\"}";
        for (int i = 0; i < 2; i++)
            SERVER.post(key, "/v1/endpoints", endpoint.formatted(i)).requireStatus(201);

        assertThat(SERVER.post(key, "/v1/endpoints", endpoint.formatted(2))
                        .requireStatus(429)
                        .at("/detail"))
                .contains("at most 2 endpoints");
        SERVER.get(key, "/v1/endpoints/e2").requireStatus(404);
        assertThat(SERVER.post(key, "/v1/endpoints", endpoint.formatted(1))
                        .requireStatus(409)
                        .code())
                .isEqualTo("endpoint-exists");
        assertThat(SERVER.put(SERVER.bootstrap(), "/v1/projects/receiving/quota", "{\"maxEndpoints\":3}")
                        .requireStatus(200)
                        .at("/quota/maxEndpoints"))
                .isEqualTo("3");
        await().until(() ->
                SERVER.post(key, "/v1/endpoints", endpoint.formatted(2)).status() == 201);
    }

    @Test
    void a_project_has_a_limited_number_of_queues_with_settings() {
        String key = SERVER.createProject("tuning");
        SERVER.database()
                .execute("INSERT INTO carillon.lane (project, queue, weight) SELECT 'tuning', 'q' || i, 2"
                        + " FROM generate_series(1, 1999) i");
        SERVER.put(key, "/v1/queues/last/weight", "{\"weight\":2}").requireStatus(200);

        Map.of("limits", "{\"maxRunning\":1}", "weight", "{\"weight\":2}", "breaker", "{\"enabled\":true}")
                .forEach((setting, body) -> assertThat(SERVER.put(key, "/v1/queues/another/" + setting, body)
                                .requireStatus(429)
                                .at("/detail"))
                        .contains("at most 2000 queues with limits"));
        SERVER.post(key, "/v1/queues/another/pause", null).requireStatus(429);
        SERVER.post(
                        key,
                        "/v1/endpoints",
                        "{\"name\":\"e\",\"url\":\"https://a.example/\",\"limits\":{\"maxRunning\":1}}")
                .requireStatus(429);
        SERVER.put(key, "/v1/queues/last/limits", "{\"maxRunning\":1}").requireStatus(200);
        assertThat(SERVER.query("SELECT count(*) FROM carillon.lane WHERE project = 'tuning'")
                        .number())
                .isEqualTo(2_000);
    }

    @Test
    void lists_and_counts_show_a_limited_number_of_queues() {
        String key = SERVER.createProject("branching");
        SERVER.database()
                .execute("INSERT INTO carillon.lane (project, queue, weight) SELECT 'branching', 'q' || i, 2"
                        + " FROM generate_series(1, 1001) i");

        RestTestServer.Reply queues = SERVER.get(key, "/v1/queues").requireStatus(200);
        RestTestServer.Reply counts = SERVER.get(key, "/v1/stats").requireStatus(200);

        assertThat(queues.json().path("items")).hasSize(1_000);
        assertThat(queues.json().path("more").booleanValue()).isTrue();
        assertThat(counts.json().path("more").booleanValue()).isTrue();
        assertThat(SERVER.get(SERVER.createProject("small"), "/v1/queues").at("/more"))
                .isEqualTo("false");
    }

    @Tag("slow")
    @Test
    void redriven_runs_count_and_a_bulk_redrive_waits_until_runs_have_ended() {
        String key = SERVER.createProject("redriving");
        String dead = "";
        for (int i = 0; i < 3; i++)
            dead = SERVER.post(key, "/v1/runs", "{\"target\":{\"handler\":\"never\"}}")
                    .requireStatus(201)
                    .at("/run");
        SERVER.runDue();
        String live = "";
        // After a count that took long, the server uses its result for up to 50 times as long.
        for (int i = 0; i < 3; i++)
            live = await().until(() -> SERVER.post(key, "/v1/runs", RUN), reply -> reply.status() == 201)
                    .at("/run");

        assertThat(SERVER.post(key, "/v1/runs/" + dead + "/redrive", null)
                        .requireStatus(429)
                        .code())
                .isEqualTo("quota-exceeded");
        SERVER.post(key, "/v1/runs/" + live + "/redrive", null).requireStatus(409);

        for (String project : List.of("redriving", "default"))
            SERVER.put(SERVER.bootstrap(), "/v1/projects/" + project + "/quota", "{\"maxBulkActions\":1}")
                    .requireStatus(200);
        String waiting = bulk(key, "{\"action\":\"redrive\",\"filter\":{\"state\":\"dead\"}}");
        // In each turn, the worker visits both projects.
        String later = bulk(SERVER.bootstrap(), "{\"action\":\"cancel\",\"filter\":{\"state\":\"waiting\"}}");
        await().until(() -> SERVER.get(SERVER.bootstrap(), later).at("/state").equals("done"));
        assertThat(SERVER.get(key, waiting).at("/state")).isEqualTo("running");
        assertThat(SERVER.get(key, waiting).at("/done")).isEqualTo("0");

        SERVER.post(key, "/v1/runs/" + live + "/cancel", null).requireStatus(200);
        await().until(() -> SERVER.get(key, waiting).at("/state").equals("done"));
        assertThat(SERVER.get(key, waiting).at("/done")).isEqualTo("3");
    }

    private static String bulk(String key, String action) {
        return "/v1/bulk-actions/"
                + SERVER.post(key, "/v1/bulk-actions", action)
                        .requireStatus(202)
                        .at("/id");
    }

    @Test
    @Timeout(60) // a stream that is not refused does not end
    void a_project_has_a_limited_number_of_event_streams() throws Exception {
        String key = SERVER.createProject("listening");
        String other = SERVER.createProject("listening-too");
        try (InputStream first = listen(key)) {
            assertThat(first.read()).isEqualTo('r');

            assertThat(SERVER.get(key, "/v1/stream").requireStatus(429).code()).isEqualTo("quota-exceeded");
            try (InputStream foreign = listen(other)) {
                assertThat(foreign.read()).isEqualTo('r');
            }
        }
    }

    private static InputStream listen(String key) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(
                                        "http://127.0.0.1:" + SERVER.server().port() + "/v1/stream"))
                                .header("Authorization", "Bearer " + key)
                                .build(),
                        HttpResponse.BodyHandlers.ofInputStream())
                .body();
    }

    @Test
    void a_list_that_needs_too_long_a_search_is_refused_and_a_shorter_one_is_not() {
        String key = SERVER.createProject("excluding");
        LocalDate monday =
                LocalDate.parse(SERVER.query("SELECT date_trunc('week', carillon.clock() AT TIME ZONE 'UTC')::date")
                        .text());
        String mondays = Stream.iterate(monday, date -> date.plusDays(7))
                .limit(1_000)
                .map(date -> "\"" + date + "\"")
                .collect(Collectors.joining(","));
        SERVER.put(
                        key,
                        "/v1/schedules/s",
                        "{\"when\":{\"cron\":\"0 0 * * 1\",\"except\":[" + mondays
                                + "]},\"target\":{\"handler\":\"a\"}}")
                .requireStatus(201);
        SERVER.database().execute("""
                CREATE TEMP TABLE copied AS SELECT s.*, i FROM carillon.schedule s, generate_series(1, 120) i
                 WHERE project = 'excluding';
                UPDATE copied SET id = gen_random_uuid(), name = 's' || i;
                ALTER TABLE copied DROP COLUMN i;
                INSERT INTO carillon.schedule SELECT * FROM copied
                """);

        RestTestServer.Reply refused =
                SERVER.get(key, "/v1/schedules?limit=200").requireStatus(422);

        assertThat(refused.code()).isEqualTo("search-too-long");
        assertThat(refused.at("/detail")).contains("Request fewer instants, fewer schedules or a shorter range");
        SERVER.get(key, "/v1/schedules").requireStatus(200);
        SERVER.get(key, "/v1/timeline?limit=200").requireStatus(200);
    }
}
