package io.carillon.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.HandlerType;
import io.carillon.server.RestTestServer;
import io.carillon.server.access.PlaintextApiKey;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/**
 * The options of the library for runs and queues have the same names over HTTP: unique key windows, rates, weights and
 * breakers.
 */
class RunOptionsTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder.handle(HandlerType.of("fine", JsonNode.class), (payload, run) -> {}), server -> server);

    private static String key() {
        return SERVER.bootstrap();
    }

    private static RestTestServer.Reply enqueue(String more) {
        return SERVER.post(key(), "/v1/runs", "{\"target\":{\"handler\":\"fine\"}%s}".formatted(more));
    }

    private static void runDue() {
        SERVER.post(key(), "/v1/run-due", "{\"budget\":\"10s\"}").requireStatus(200);
    }

    @Test
    void a_key_with_a_window_stays_taken_after_its_run_has_ended() {
        String run = enqueue(",\"key\":\"w\",\"keyWindow\":\"1h\"")
                .requireStatus(201)
                .at("/run");
        runDue();
        assertThat(SERVER.get(key(), "/v1/runs/" + run).at("/state")).isEqualTo("succeeded");

        RestTestServer.Reply second =
                enqueue(",\"key\":\"w\",\"keyWindow\":\"1h\"").requireStatus(200);

        assertThat(second.at("/run")).isEqualTo(run);
        assertThat(enqueue(",\"keyWindow\":\"1h\"").requireStatus(422).at("/errors/0/pointer"))
                .isEqualTo("/key");
        assertThat(enqueue(",\"key\":\"w\",\"keyWindow\":\"0s\"")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/keyWindow");
    }

    @Test
    void a_rate_key_limits_starts() {
        String rate = ",\"queue\":\"rated\",\"rateKey\":\"acme\",\"rateStarts\":2,\"rateIn\":\"1h\"";
        List<String> runs = List.of(
                enqueue(rate).at("/run"),
                enqueue(rate).at("/run"),
                enqueue(rate).at("/run"));
        runDue();

        assertThat(runs.stream().map(run -> SERVER.get(key(), "/v1/runs/" + run).at("/state")))
                .containsExactlyInAnyOrder("succeeded", "succeeded", "waiting");
        assertThat(enqueue(",\"rateKey\":\"acme\"").requireStatus(422).at("/errors/0/pointer"))
                .isEqualTo("/rateStarts");
        assertThat(enqueue(",\"rateStarts\":2,\"rateIn\":\"1h\"")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/rateKey");
        assertThat(enqueue(rate + ",\"fifoKey\":\"x\"").requireStatus(422).at("/errors/0/detail"))
                .contains("only one of concurrencyKey, fifoKey and rateKey");
    }

    @Test
    void a_queue_weight_is_set_and_shown() {
        assertThat(SERVER.put(key(), "/v1/queues/heavy/weight", "{\"weight\":7}")
                        .requireStatus(200)
                        .at("/weight"))
                .isEqualTo("7");
        assertThat(SERVER.get(key(), "/v1/queues/heavy").requireStatus(200).at("/weight"))
                .isEqualTo("7");
        for (String wrong : List.of("{\"weight\":0}", "{\"weight\":101}", "{}"))
            assertThat(SERVER.put(key(), "/v1/queues/heavy/weight", wrong)
                            .requireStatus(422)
                            .at("/errors/0/pointer"))
                    .isEqualTo("/weight");
        assertThat(SERVER.get(key(), "/v1/queues/heavy").at("/weight")).isEqualTo("7");
        SERVER.put(key(), "/v1/queues/NO/weight", "{\"weight\":1}").requireStatus(422);
    }

    @Test
    void the_breaker_of_a_queue_is_set_and_shown() {
        assertThat(SERVER.put(key(), "/v1/queues/partner/weight", "{\"weight\":7}")
                        .requireStatus(200)
                        .json()
                        .has("breaker"))
                .isFalse();

        assertThat(SERVER.put(key(), "/v1/queues/partner/breaker", "{\"enabled\":true}")
                        .requireStatus(200)
                        .at("/breaker/state"))
                .isEqualTo("closed");

        assertThat(SERVER.get(key(), "/v1/queues/partner").requireStatus(200).at("/breaker/state"))
                .isEqualTo("closed");
        assertThat(SERVER.put(key(), "/v1/queues/partner/breaker", "{}")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/enabled");
        assertThat(SERVER.put(key(), "/v1/queues/partner/breaker", "{\"enabled\":false}")
                        .requireStatus(200)
                        .json()
                        .has("breaker"))
                .isFalse();
        assertThat(SERVER.put(key(), "/v1/queues/endpoint.orders/breaker", "{\"enabled\":false}")
                        .requireStatus(200)
                        .json()
                        .has("breaker"))
                .isFalse();
    }

    @Test
    void the_audit_log_is_filtered_by_actor_action_and_object() {
        String searched = SERVER.createProject("searched");
        SERVER.put(searched, "/v1/queues/a/weight", "{\"weight\":2}").requireStatus(200);
        SERVER.put(searched, "/v1/queues/b/weight", "{\"weight\":2}").requireStatus(200);
        String who = "key%20" + PlaintextApiKey.parse(searched).orElseThrow().id();

        assertThat(SERVER.get(searched, "/v1/audit?object=queue/a")
                        .requireStatus(200)
                        .json()
                        .path("items"))
                .hasSize(1);
        assertThat(SERVER.get(searched, "/v1/audit?action=queue.weight&actor=" + who)
                        .requireStatus(200)
                        .json()
                        .path("items"))
                .hasSize(2);
        assertThat(SERVER.get(searched, "/v1/audit?actor=unknown")
                        .requireStatus(200)
                        .json()
                        .path("items"))
                .isEmpty();
    }

    @Test
    void a_misspelt_field_or_value_is_refused_with_the_nearest_name() {
        assertThat(enqueue(",\"rateStart\":2").requireStatus(422).at("/errors/0/detail"))
                .contains("Did you mean 'rateStarts'?");
        assertThat(enqueue(",\"priority\":\"hihg\"").requireStatus(422).at("/errors/0/detail"))
                .contains("high, normal, low, bulk", "Did you mean 'high'?");
        assertThat(SERVER.get(key(), "/v1/runs?state=ded").requireStatus(400).at("/errors/0/detail"))
                .contains("Did you mean 'dead'?");
        assertThat(enqueue(",\"x\":2").requireStatus(422).at("/errors/0/detail"))
                .doesNotContain("Did you mean");
    }

    @Test
    void health_issues_have_stable_codes() {
        RestTestServer.Reply health = SERVER.get(key(), "/v1/health").requireStatus(200);

        assertThat(health.at("/healthy")).isEqualTo("false");
        assertThat(health.json().path("kinds").toString()).contains("\"no-live-node\"");
    }
}
