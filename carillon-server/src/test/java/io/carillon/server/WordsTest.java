package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.HandlerType;
import io.carillon.server.access.KeyText;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** What the library offers for runs and queues works over HTTP in the same words: windows of keys, rates and weights. */
class WordsTest {
    @RegisterExtension
    static final Served SERVED = new Served(
            builder -> builder.handle(HandlerType.of("fine", JsonNode.class), (payload, run) -> {}), server -> server);

    private static String key() {
        return SERVED.bootstrap();
    }

    private static Served.Reply enqueue(String more) {
        return SERVED.post(key(), "/v1/runs", "{\"target\":{\"handler\":\"fine\"}%s}".formatted(more));
    }

    private static void tick() {
        SERVED.post(key(), "/v1/tick", "{\"budget\":\"10s\"}").is(200);
    }

    @Test
    void a_key_with_a_window_holds_after_its_run_has_ended() {
        String run = enqueue(",\"key\":\"w\",\"keyWindow\":\"1h\"").is(201).at("/run");
        tick();
        assertThat(SERVED.get(key(), "/v1/runs/" + run).at("/state")).isEqualTo("succeeded");

        Served.Reply second = enqueue(",\"key\":\"w\",\"keyWindow\":\"1h\"").is(200);

        assertThat(second.at("/run")).isEqualTo(run);
        assertThat(enqueue(",\"keyWindow\":\"1h\"").is(422).at("/errors/0/pointer"))
                .isEqualTo("/key");
        assertThat(enqueue(",\"key\":\"w\",\"keyWindow\":\"0s\"").is(422).at("/errors/0/pointer"))
                .isEqualTo("/keyWindow");
    }

    @Test
    void of_a_rate_key_only_so_many_start() {
        String rate = ",\"queue\":\"rated\",\"rateKey\":\"acme\",\"rateStarts\":2,\"rateIn\":\"1h\"";
        List<String> runs = List.of(
                enqueue(rate).at("/run"),
                enqueue(rate).at("/run"),
                enqueue(rate).at("/run"));
        tick();

        assertThat(runs.stream().map(run -> SERVED.get(key(), "/v1/runs/" + run).at("/state")))
                .containsExactlyInAnyOrder("succeeded", "succeeded", "waiting");
        assertThat(enqueue(",\"rateKey\":\"acme\"").is(422).at("/errors/0/pointer"))
                .isEqualTo("/rateStarts");
        assertThat(enqueue(",\"rateStarts\":2,\"rateIn\":\"1h\"").is(422).at("/errors/0/pointer"))
                .isEqualTo("/rateKey");
        assertThat(enqueue(rate + ",\"fifoKey\":\"x\"").is(422).at("/errors/0/detail"))
                .contains("one gate");
    }

    @Test
    void a_queue_is_weighed_and_shows_it() {
        assertThat(SERVED.put(key(), "/v1/queues/heavy/weight", "{\"weight\":7}")
                        .is(200)
                        .at("/weight"))
                .isEqualTo("7");
        assertThat(SERVED.get(key(), "/v1/queues/heavy").is(200).at("/weight")).isEqualTo("7");
        for (String wrong : List.of("{\"weight\":0}", "{\"weight\":101}", "{}"))
            assertThat(SERVED.put(key(), "/v1/queues/heavy/weight", wrong)
                            .is(422)
                            .at("/errors/0/pointer"))
                    .isEqualTo("/weight");
        assertThat(SERVED.get(key(), "/v1/queues/heavy").at("/weight")).isEqualTo("7");
        SERVED.put(key(), "/v1/queues/NO/weight", "{\"weight\":1}").is(422);
    }

    @Test
    void the_audit_log_is_searched_by_who_what_and_which() {
        String searched = SERVED.project("searched");
        SERVED.put(searched, "/v1/queues/a/weight", "{\"weight\":2}").is(200);
        SERVED.put(searched, "/v1/queues/b/weight", "{\"weight\":2}").is(200);
        String who = "key%20" + KeyText.parse(searched).orElseThrow().id();

        assertThat(SERVED.get(searched, "/v1/audit?object=queue/a")
                        .is(200)
                        .json()
                        .path("items"))
                .hasSize(1);
        assertThat(SERVED.get(searched, "/v1/audit?action=queue.weigh&actor=" + who)
                        .is(200)
                        .json()
                        .path("items"))
                .hasSize(2);
        assertThat(SERVED.get(searched, "/v1/audit?actor=nobody").is(200).json().path("items"))
                .isEmpty();
    }

    @Test
    void a_field_or_a_word_that_is_misspelt_is_answered_with_the_nearest() {
        assertThat(enqueue(",\"rateStart\":2").is(422).at("/errors/0/detail")).contains("Did you mean 'rateStarts'?");
        assertThat(enqueue(",\"priority\":\"hihg\"").is(422).at("/errors/0/detail"))
                .contains("high, normal, low, bulk", "Did you mean 'high'?");
        assertThat(SERVED.get(key(), "/v1/runs?state=ded").is(400).at("/errors/0/detail"))
                .contains("Did you mean 'dead'?");
        assertThat(enqueue(",\"x\":2").is(422).at("/errors/0/detail")).doesNotContain("Did you mean");
    }

    @Test
    void health_names_what_it_finds_by_words_that_stay() {
        Served.Reply health = SERVED.get(key(), "/v1/health").is(200);

        assertThat(health.at("/healthy")).isEqualTo("false");
        assertThat(health.json().path("kinds").toString()).contains("\"no-node\"");
    }
}
