package io.carillon.server.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.HandlerOptions;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.server.RestTestServer;
import io.carillon.server.WebhookReceiver;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Retries and timeouts over REST: of runs, schedules and endpoints. */
class RetrySettingsTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder.handle(
                    HandlerType.of("broken", JsonNode.class),
                    (payload, run) -> {
                        throw new IllegalStateException("no route");
                    },
                    HandlerOptions.defaults()
                            .retry(Retry.exponential(Duration.ZERO).attempts(4))),
            server -> server);

    private static final String TWICE = ",\"retry\":{\"attempts\":2,\"first\":\"0s\"}";
    private static final String WHOLE =
            "{\"attempts\":5,\"first\":\"PT2S\",\"factor\":1.5,\"cap\":\"PT1M\",\"jitter\":0.1}";

    /** Has a port of its own in each test: a host that failed in one test must not be paused in the next. */
    private WebhookReceiver receiver;

    @BeforeEach
    void listen() throws Exception {
        receiver = new WebhookReceiver();
    }

    @AfterEach
    void stop() {
        receiver.close();
    }

    private static String key() {
        return SERVER.bootstrap();
    }

    private static RestTestServer.Reply post(String path, String body) {
        return SERVER.post(key(), path, body);
    }

    private static String enqueue(String target, String more) {
        return post("/v1/runs", "{\"target\":%s%s}".formatted(target, more))
                .requireStatus(201)
                .at("/run");
    }

    private static RestTestServer.Reply run(String id) {
        return SERVER.get(key(), "/v1/runs/" + id).requireStatus(200);
    }

    private static String retryOf(String path) {
        return SERVER.get(key(), path).requireStatus(200).json().path("retry").toString();
    }

    private String schedule(String name, String more) {
        return SERVER.put(
                        key(),
                        "/v1/schedules/" + name,
                        "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"broken\"}%s}".formatted(more))
                .at("/version");
    }

    @Test
    void a_run_shows_its_settings_and_is_retried_by_them() {
        String run = enqueue("{\"handler\":\"broken\"}", TWICE + ",\"timeout\":\"30s\"");
        String other = enqueue("{\"handler\":\"broken\"}", "");
        assertThat(retryOf("/v1/runs/" + run))
                .isEqualTo("{\"attempts\":2,\"first\":\"PT0S\",\"factor\":2.0,\"cap\":\"PT1H\",\"jitter\":1.0}");
        assertThat(run(run).at("/timeout")).isEqualTo("PT30S");
        assertThat(run(other).json().has("retry")).isFalse();
        assertThat(run(other).json().has("timeout")).isFalse();

        SERVER.runDue();

        assertThat(run(run).at("/state")).isEqualTo("dead");
        assertThat(run(run).at("/failures")).isEqualTo("2");
        assertThat(run(run).at("/retry/attempts")).isEqualTo("2");
        assertThat(run(other).at("/failures")).isEqualTo("4");
    }

    @Test
    void a_batch_has_one_setting_for_all_of_its_runs() {
        String run = post(
                        "/v1/runs:batch",
                        "{\"target\":{\"handler\":\"broken\"},\"runs\":[{},{}],\"after\":\"1h\",\"retry\":"
                                + WHOLE.replace("PT", "").toLowerCase(Locale.ROOT) + "}")
                .requireStatus(201)
                .at("/items/1/run");

        assertThat(retryOf("/v1/runs/" + run)).isEqualTo(WHOLE);
    }

    @Test
    void a_schedule_shows_its_settings_and_its_runs_have_them() {
        assertThat(schedule("nightly", ",\"retry\":" + WHOLE + ",\"timeout\":\"PT9S\""))
                .isEqualTo("1");
        RestTestServer.Reply shown = SERVER.get(key(), "/v1/schedules/nightly").requireStatus(200);
        assertThat(retryOf("/v1/schedules/nightly")).isEqualTo(WHOLE);
        assertThat(shown.at("/timeout")).isEqualTo("PT9S");

        String run =
                post("/v1/schedules/nightly/trigger", null).requireStatus(201).at("/run");
        assertThat(retryOf("/v1/runs/" + run)).isEqualTo(WHOLE);
        assertThat(run(run).at("/timeout")).isEqualTo("PT9S");
        post("/v1/runs/" + run + "/cancel", null).requireStatus(200);

        assertThat(schedule("nightly", ",\"timeout\":\"9s\",\"retry\":" + WHOLE))
                .as("the same definition")
                .isEqualTo("1");
        assertThat(schedule("nightly", "")).isEqualTo("2");
        assertThat(SERVER.get(key(), "/v1/schedules/nightly").json().has("retry"))
                .isFalse();
    }

    @Test
    void a_webhook_with_two_attempts_is_dead_after_two() {
        String run = enqueue("{\"url\":\"%s\"}".formatted(receiver.url("/500")), TWICE);

        SERVER.runDue();

        assertThat(run(run).at("/state")).isEqualTo("dead");
        assertThat(receiver.received("/500")).hasSize(2);
    }

    @Test
    void the_retries_of_an_endpoint_apply_to_runs_without_their_own() {
        String body = "{\"name\":\"shop\",\"url\":\"%s\"%s}".formatted(receiver.url("/500"), TWICE);
        assertThat(post("/v1/endpoints", body).requireStatus(201).at("/retry/attempts"))
                .isEqualTo("2");
        assertThat(SERVER.get(key(), "/v1/endpoints/shop").at("/retry/first")).isEqualTo("PT0S");
        String own = enqueue("{\"endpoint\":\"shop\"}", ",\"retry\":{\"attempts\":1}");
        String of = enqueue("{\"endpoint\":\"shop\"}", "");

        SERVER.runDue();

        assertThat(run(own).at("/failures")).isEqualTo("1");
        assertThat(run(of).at("/state")).isEqualTo("dead");
        assertThat(run(of).at("/failures")).isEqualTo("2");
        assertThat(run(of).json().has("retry")).isFalse();
        SERVER.put(key(), "/v1/endpoints/shop", "{\"url\":\"" + receiver.url("/500") + "\"}")
                .requireStatus(200);
        assertThat(SERVER.get(key(), "/v1/endpoints/shop").json().has("retry")).isFalse();
    }

    @Test
    void the_timeout_of_a_run_replaces_that_of_its_endpoint() throws Exception {
        try (ServerSocket silent = new ServerSocket(0)) {
            String url = "http://127.0.0.1:" + silent.getLocalPort() + "/";
            post(
                            "/v1/endpoints",
                            "{\"name\":\"silent\",\"url\":\"%s\",\"timeouts\":{\"total\":\"200ms\"}}".formatted(url))
                    .requireStatus(201);
            String run = enqueue("{\"endpoint\":\"silent\"}", ",\"timeout\":\"1s\",\"retry\":{\"attempts\":1}");

            SERVER.runDue();

            assertThat(run(run).at("/state")).isEqualTo("dead");
            assertThat(run(run).at("/reason")).containsAnyOf("no response within PT1S", "timed out after PT1S");
        }
    }

    @Test
    void a_waiting_run_shows_its_last_error_and_when_its_next_attempt_is_ready() {
        Instant start = Instant.now();
        String run =
                enqueue("{\"handler\":\"broken\"}", ",\"retry\":{\"first\":\"2h\",\"jitter\":0},\"queue\":\"late\"");

        SERVER.runDue();

        JsonNode listed = SERVER.get(key(), "/v1/runs?queue=late")
                .requireStatus(200)
                .json()
                .at("/items/0");
        ObjectNode read = (ObjectNode) run(run).json();
        assertThat(read.remove("payload")).isNotNull();
        assertThat(listed).isEqualTo(read);
        assertThat(run(run).at("/failures")).isEqualTo("1");
        assertThat(run(run).at("/lastError")).isEqualTo("java.lang.IllegalStateException: no route");
        assertThat(Instant.parse(run(run).at("/readyAt")))
                .isBetween(start.plus(Duration.ofMinutes(119)), start.plus(Duration.ofMinutes(121)));
        assertThat(run(run).at("/retry/cap")).isEqualTo("PT2H");
        assertThat(SERVER.get(key(), "/v1/runs/" + run + "/explain").text())
                .contains("it is ready at ", "1 attempt failed, the last one with: ", "no route");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        "retry":{"attempts":0}                    | /retry/attempts | between 1 and 10000
        "retry":{"attempts":1.5}                  | /retry/attempts | an integer
        "retry":{"first":"-1s"}                   | /retry/first    | a duration
        "retry":{"first":"366d"}                  | /retry/first    | between 0 and 365 days
        "retry":{"factor":0.5}                    | /retry/factor   | between 1 and 100
        "retry":{"cap":"PT-1S"}                   | /retry/cap      | between 0 and 365 days
        "retry":{"first":"2h","cap":"1h"}         | /retry/cap      | first must not exceed cap (was PT2H > PT1H)
        "retry":{"jitter":2}                      | /retry/jitter   | between 0 and 1
        "retry":{"jitter":"some"}                 | /retry/jitter   | a number
        "retry":{"attempt":2}                     | /retry/attempt  | Did you mean 'attempts'?
        "retry":3                                 | /retry          | an object
        "timeout":"0s"                            | /timeout        | between 1 ms and 30 days
        "timeout":"31d"                           | /timeout        | between 1 ms and 30 days
        "timeout":30                              | /timeout        | a duration
        """)
    void a_wrong_value_is_refused_with_its_field(String field, String pointer, String detail) {
        String target = "{\"target\":{\"handler\":\"broken\"},";
        for (RestTestServer.Reply refused : List.of(
                post("/v1/runs", target + field + "}"),
                SERVER.put(key(), "/v1/schedules/odd", target + "\"when\":{\"cron\":\"@daily\"}," + field + "}"))) {
            assertThat(refused.requireStatus(422).at("/errors/0/pointer")).isEqualTo(pointer);
            assertThat(refused.at("/errors/0/detail")).contains(detail);
        }
        if (!field.contains("retry")) return;
        String endpoint = "{\"name\":\"odd\",\"url\":\"https://a.example/\"," + field + "}";
        assertThat(post("/v1/endpoints", endpoint).requireStatus(422).at("/errors/0/pointer"))
                .isEqualTo(pointer);
    }

    @Test
    void a_short_cap_shortens_the_default_of_the_first_delay() {
        String run = enqueue("{\"handler\":\"broken\"}", ",\"after\":\"1h\",\"retry\":{\"cap\":\"1s\"}");

        assertThat(run(run).at("/retry/first")).isEqualTo("PT1S");
    }
}
