package io.carillon.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.When;
import io.carillon.testkit.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An application shows the dashboard at a path of its own, in each servlet container. */
class DashboardServletTest {
    private static final HandlerType<String> SEND = HandlerType.of("send", String.class);
    private static final DashboardAuthorizer BY_ROLE = request -> request.isUserInRole("ann")
            ? DashboardAccess.operator("ann")
            : request.isUserInRole("bob") ? DashboardAccess.viewer("bob") : DashboardAccess.none();

    private final HttpClient client = HttpClient.newHttpClient();
    private static TestDatabase database;
    private static Carillon carillon;
    private ServletContainer.Running container;

    @BeforeAll
    static void open() {
        database = TestDatabase.migrated();
        carillon = Carillon.on(database.pool(8)).handle(SEND, (text, run) -> {}).build();
    }

    @AfterEach
    void stop() throws Exception {
        if (container != null) container.close();
    }

    @AfterAll
    static void close() {
        carillon.close();
        database.close();
    }

    private CarillonDashboard dashboard() {
        return CarillonDashboard.on(carillon, database.pool(4));
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(container.url() + path)).timeout(Duration.ofSeconds(60));
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return send(request(path));
    }

    private HttpRequest.Builder change(String path, String body, String user) {
        return request(path)
                .header("X-User", user)
                .header("X-Carillon-CSRF", "1")
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body));
    }

    @ParameterizedTest
    @EnumSource
    void page_and_files_are_found_under_the_path_of_the_servlet(ServletContainer kind) throws Exception {
        container = kind.start(dashboard().publicReadOnly().servlet());

        HttpResponse<String> start = get("");
        assertThat(start.statusCode()).isEqualTo(302);
        assertThat(start.headers().firstValue("Location")).contains("carillon/ui");
        HttpResponse<String> page = get("/ui");
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
                .contains("default-src 'none'", "frame-ancestors 'none'");
        assertThat(page.body()).contains("data-application");

        Matcher file = Pattern.compile("src=\"(ui/[0-9a-f]+/main.js)\"").matcher(page.body());
        assertThat(file.find()).isTrue();
        HttpResponse<String> script = get("/" + file.group(1));
        assertThat(script.statusCode()).isEqualTo(200);
        assertThat(script.headers().firstValue("Cache-Control").orElseThrow()).contains("immutable");
        assertThat(script.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/javascript");
    }

    @ParameterizedTest
    @EnumSource
    void a_public_dashboard_shows_everything_and_changes_nothing(ServletContainer kind) throws Exception {
        carillon.schedules().upsert("nightly", When.cron("0 2 * * *", "UTC"), SEND, "hello");
        RunId run = carillon.enqueue(SEND, "hello", Enqueue.after(Duration.ofHours(1)))
                .run();
        container = kind.start(dashboard().publicReadOnly().servlet());

        for (String path : List.of(
                "/v1/session",
                "/v1/health",
                "/v1/nodes",
                "/v1/schedules",
                "/v1/schedules/nightly",
                "/v1/schedules/nightly/ledger",
                "/v1/timeline",
                "/v1/runs?limit=10&state=waiting",
                "/v1/runs/" + run,
                "/v1/runs/" + run + "/attempts",
                "/v1/runs/" + run + "/explain",
                "/v1/queues",
                "/v1/stats",
                "/v1/bulk-actions")) {
            HttpResponse<String> response = get(path);
            assertThat(response.statusCode())
                    .as("%s: %s", path, response.body())
                    .isEqualTo(200);
            assertThat(response.headers().firstValue("Cache-Control")).as(path).contains("no-store");
        }
        assertThat(get("/v1/runs/" + run).body()).contains("\"hello\"");

        HttpResponse<String> refused = send(change("/v1/runs/" + run + "/cancel", "", "ann"));
        assertThat(refused.statusCode()).isEqualTo(403);
        assertThat(refused.body()).contains("read-only");
        assertThat(carillon.runs().get(run).orElseThrow().state()).isEqualTo(RunState.WAITING);
        assertThat(get("/v1/audit").statusCode()).isEqualTo(403);
        for (String absent : List.of("/v1/keys", "/v1/projects", "/v1/endpoints", "/metrics"))
            assertThat(get(absent).statusCode()).as(absent).isEqualTo(404);
    }

    @ParameterizedTest
    @EnumSource
    void the_authorizer_decides_who_sees_and_who_changes(ServletContainer kind) throws Exception {
        RunId run = carillon.enqueue(SEND, "hello", Enqueue.after(Duration.ofHours(1)))
                .run();
        String cancel = "/v1/runs/" + run + "/cancel";
        container = kind.start(dashboard().authorizer(BY_ROLE).servlet());

        assertThat(get("/v1/runs").statusCode()).isEqualTo(401);
        assertThat(send(request("/v1/runs").header("X-User", "eve")).statusCode())
                .isEqualTo(403);
        assertThat(send(request("/v1/runs").header("X-User", "bob")).statusCode())
                .isEqualTo(200);
        assertThat(send(change(cancel, "", "bob")).statusCode()).isEqualTo(403);
        assertThat(carillon.runs().get(run).orElseThrow().state()).isEqualTo(RunState.WAITING);

        HttpResponse<String> done = send(change(cancel, "{\"reason\":\"no longer needed\"}", "ann"));

        assertThat(done.statusCode()).as(done.body()).isEqualTo(200);
        assertThat(carillon.runs().get(run).orElseThrow().state()).isEqualTo(RunState.CANCELLED);
        assertThat(send(request("/v1/audit").header("X-User", "ann")).body())
                .contains("run.cancel", "user ann", run.toString());
    }

    @ParameterizedTest
    @EnumSource
    void a_change_that_another_site_causes_is_refused(ServletContainer kind) throws Exception {
        RunId run = carillon.enqueue(SEND, "hello", Enqueue.after(Duration.ofHours(1)))
                .run();
        String cancel = "/v1/runs/" + run + "/cancel";
        container = kind.start(dashboard().authorizer(BY_ROLE).servlet());
        HttpRequest.Builder withoutHeader =
                request(cancel).header("X-User", "ann").POST(HttpRequest.BodyPublishers.noBody());

        assertThat(send(withoutHeader).body()).contains("origin-not-allowed");
        assertThat(send(change(cancel, "", "ann").header("Sec-Fetch-Site", "cross-site"))
                        .body())
                .contains("origin-not-allowed");
        assertThat(send(change(cancel, "", "ann").header("Origin", "https://evil.example"))
                        .body())
                .contains("origin-not-allowed");
        assertThat(carillon.runs().get(run).orElseThrow().state()).isEqualTo(RunState.WAITING);

        String own = "http://127.0.0.1:" + container.port();
        assertThat(send(change(cancel, "", "ann").header("Origin", own)).statusCode())
                .isEqualTo(200);
    }

    @ParameterizedTest
    @EnumSource
    void a_bulk_action_is_executed_by_the_application(ServletContainer kind) throws Exception {
        Enqueue later = Enqueue.after(Duration.ofHours(1)).queue("bulk");
        for (int i = 0; i < 20; i++) carillon.enqueue(SEND, "hello", later);
        container = kind.start(dashboard().authorizer(BY_ROLE).servlet());

        HttpResponse<String> started = send(change(
                "/v1/bulk-actions",
                "{\"action\":\"cancel\",\"filter\":{\"state\":\"waiting\",\"queue\":\"bulk\"}}",
                "ann"));

        assertThat(started.statusCode()).as(started.body()).isBetween(200, 202);
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .until(() -> database.query("SELECT 1 FROM carillon.run WHERE queue = 'bulk'")
                        .rows()
                        .isEmpty());
    }

    @ParameterizedTest
    @EnumSource
    void a_page_learns_of_changes_by_the_stream(ServletContainer kind) throws Exception {
        carillon.schedules().upsert("nightly", When.cron("0 2 * * *", "UTC"), SEND, "hello");
        container = kind.start(dashboard().authorizer(BY_ROLE).servlet());

        HttpResponse<InputStream> stream = client.send(
                request("/v1/stream").header("X-User", "bob").build(), HttpResponse.BodyHandlers.ofInputStream());
        assertThat(stream.headers().firstValue("Content-Type")).contains("text/event-stream");
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8))) {
            assertThat(lines.readLine()).startsWith("retry:");
            send(change("/v1/schedules/nightly/pause", "", "ann"));

            assertThat(lines.lines().filter(line -> line.startsWith("event:")).findFirst())
                    .contains("event: schedule.pause");
        }
    }

    @Tag("slow")
    @Test
    void the_stream_of_a_user_who_may_change_things_stays_open() throws Exception {
        carillon.schedules().upsert("nightly", When.cron("0 2 * * *", "UTC"), SEND, "hello");
        container =
                ServletContainer.TOMCAT.start(dashboard().authorizer(BY_ROLE).servlet());
        long began = System.nanoTime();

        HttpResponse<InputStream> stream = client.send(
                request("/v1/stream").header("X-User", "ann").build(), HttpResponse.BodyHandlers.ofInputStream());

        try (BufferedReader lines = new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8))) {
            // The server would check a stream of its own after four seconds.
            while (System.nanoTime() - began < Duration.ofSeconds(6).toNanos()) {
                send(change("/v1/schedules/nightly/pause", "", "ann"));
                assertThat(lines.lines()
                                .filter(line -> line.startsWith("event:"))
                                .findFirst())
                        .contains("event: schedule.pause");
                send(change("/v1/schedules/nightly/resume", "", "ann"));
                assertThat(lines.lines()
                                .filter(line -> line.startsWith("event:"))
                                .findFirst())
                        .contains("event: schedule.resume");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_servlet_that_is_not_asynchronous_refuses_the_stream_so_that_pages_poll(ServletContainer kind)
            throws Exception {
        container = kind.start(dashboard().publicReadOnly().servlet(), false);

        assertThat(get("/v1/stream").statusCode()).isEqualTo(501);
        assertThat(get("/v1/runs").statusCode()).isEqualTo(200);
    }

    @Tag("slow")
    @ParameterizedTest
    @EnumSource
    void a_stream_ends_after_half_a_minute_so_that_the_browser_is_authorized_again(ServletContainer kind)
            throws Exception {
        container = kind.start(dashboard().publicReadOnly().servlet());
        long began = System.nanoTime();

        String all = get("/v1/stream").body();

        assertThat(all).contains("retry:").doesNotContain("stream.ended");
        assertThat(Duration.ofNanos(System.nanoTime() - began).toSeconds()).isBetween(29L, 50L);
    }

    @ParameterizedTest
    @EnumSource
    void invalid_requests_are_answered_and_harm_nothing(ServletContainer kind) throws Exception {
        container = kind.start(dashboard().authorizer(BY_ROLE).servlet());
        String tooLong = "{\"reason\":\"" + "x".repeat(3 * 1024 * 1024) + "\"}";

        assertThat(send(change("/v1/queues/mail/pause", tooLong, "ann")).statusCode())
                .isEqualTo(413);
        assertThat(send(change("/v1/queues/mail/pause", "{", "ann")).statusCode())
                .isEqualTo(400);
        assertThat(send(request("/v1/runs/run%20%3Cscript%3E").header("X-User", "ann"))
                        .statusCode())
                .isEqualTo(404);
        assertThat(send(request("/v1/nothing").header("X-User", "ann")).statusCode())
                .isEqualTo(404);
        assertThat(send(request("/v1/runs").header("X-User", "ann")).statusCode())
                .isEqualTo(200);
    }

    @Test
    void a_dashboard_without_an_authorizer_is_refused() {
        CarillonDashboard undecided = dashboard().project("default");

        assertThatThrownBy(undecided::servlet)
                .isInstanceOf(CarillonException.class)
                .hasMessageContaining("authorizer")
                .hasMessageContaining("publicReadOnly()");
    }

    @Test
    void requests_before_the_tables_exist_are_told_to_wait() throws Exception {
        container = ServletContainer.TOMCAT.start(dashboard().publicReadOnly().servlet());
        database.execute("ALTER SCHEMA carillon RENAME TO away");
        try {
            HttpResponse<String> early = get("/v1/runs");
            assertThat(early.statusCode()).isEqualTo(503);
            assertThat(early.headers().firstValue("Retry-After")).contains("2");
        } finally {
            database.execute("ALTER SCHEMA away RENAME TO carillon");
        }

        assertThat(get("/v1/runs").statusCode()).isEqualTo(200);
    }

    @Test
    void the_application_needs_no_library_of_the_server() {
        for (String library : List.of(
                "com.nimbusds.jwt.SignedJWT",
                "io.micrometer.core.instrument.MeterRegistry",
                "io.micrometer.prometheusmetrics.PrometheusMeterRegistry",
                "org.apache.hc.client5.http.classic.HttpClient"))
            assertThatThrownBy(() -> Class.forName(library))
                    .as("these tests run without it")
                    .isInstanceOf(ClassNotFoundException.class);
    }
}
