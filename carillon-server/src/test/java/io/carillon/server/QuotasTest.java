package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.store.ProjectRepository;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.LocalDate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a project without its own quota may use, and how much work one request may cause. */
class QuotasTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder, server -> server.quota(new ProjectRepository.Quota(1_000d, 2, 3L, 0, 1)));

    private static final String RUN = "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}";
    private static final String SCHEDULE = "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"a\"}}";

    @Test
    void a_server_limits_projects_by_default() {
        assertThat(ProjectRepository.Quota.DEFAULT)
                .isEqualTo(new ProjectRepository.Quota(1_000d, 10_000, 1_000_000L, 5, 20));
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
