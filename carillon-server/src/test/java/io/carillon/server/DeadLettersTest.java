package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.HandlerOptions;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** The payload of dead runs: readers see it without secrets, and a redrive can correct it. */
class DeadLettersTest {
    private static final HandlerType<JsonNode> MAIL = HandlerType.of("mail", JsonNode.class);

    private static final String PAYLOAD = """
            {"to":"missing","amount":1.50,"apiToken":"t-1","auth":{"Password":"p-1","user":"u"},\
            "parts":[{"client_secret":["s-1"],"n":1},null],"pinned":true,"token":null}""";

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder.handle(
                    MAIL,
                    (payload, run) -> {
                        if (payload.path("to").stringValue("").equals("missing"))
                            throw new IllegalStateException("no address");
                        run.log(payload.toString());
                    },
                    HandlerOptions.defaults().retry(Retry.none())),
            server -> server);

    private static String key() {
        return SERVER.bootstrap();
    }

    private static String dead() {
        String run = SERVER.post(
                        key(), "/v1/runs", "{\"target\":{\"handler\":\"mail\"},\"payload\":%s}".formatted(PAYLOAD))
                .requireStatus(201)
                .at("/run");
        SERVER.runDue();
        assertThat(SERVER.get(key(), "/v1/runs/" + run).at("/state")).isEqualTo("dead");
        return run;
    }

    private static JsonNode payload(String run) {
        return SERVER.get(key(), "/v1/runs/" + run).requireStatus(200).json().path("payload");
    }

    private static RestTestServer.Reply redrive(String run, String payload) {
        return SERVER.post(key(), "/v1/runs/" + run + "/redrive", "{\"payload\":%s}".formatted(payload));
    }

    @Test
    void the_payload_is_shown_without_the_values_of_secret_fields() {
        String run = dead();

        assertThat(SERVER.get(key(), "/v1/runs/" + run).text()).contains("""
                "payload":{"to":"missing","amount":1.50,"apiToken":"[redacted]",\
                "auth":{"Password":"[redacted]","user":"u"},\
                "parts":[{"client_secret":"[redacted]","n":1},null],"pinned":true,"token":null}""");
        assertThat(SERVER.get(key(), "/v1/runs?state=dead").requireStatus(200).text())
                .doesNotContain("\"payload\"");
    }

    @Test
    void an_edited_payload_keeps_the_hidden_values() {
        String run = dead();
        String edited = payload(run).toString().replace("missing", "me");

        String again = redrive(run, edited).requireStatus(201).at("/run");

        assertThat(payload(again).path("to").stringValue()).isEqualTo("me");
        SERVER.runDue();
        RestTestServer.Reply ended = SERVER.get(key(), "/v1/runs/" + again);
        assertThat(ended.at("/state")).isEqualTo("succeeded");
        assertThat(ended.at("/log"))
                .contains("\"to\":\"me\"", "\"apiToken\":\"t-1\"", "\"Password\":\"p-1\"", "[\"s-1\"]");
        assertThat(ended.json().has("payload"))
                .as("the history keeps no payload")
                .isFalse();
        assertThat(SERVER.get(key(), "/v1/audit?action=run.redrive").text()).contains("edited");
    }

    @Test
    void a_mark_without_a_stored_value_is_rejected_and_the_run_stays_dead() {
        String run = dead();

        RestTestServer.Reply refused = redrive(run, "{\"to\":\"me\",\"other\":\"[redacted]\"}");

        assertThat(refused.requireStatus(422).text()).contains("/payload/other", "there is none here");
        redrive(run, "{\"to\":\"me\"}").requireStatus(201);
    }

    @Test
    void a_mark_in_a_list_of_another_length_is_rejected_because_it_may_stand_for_the_value_of_another_item() {
        String run = dead();

        RestTestServer.Reply refused = redrive(run, "{\"parts\":[{\"client_secret\":\"[redacted]\",\"n\":1}]}");

        assertThat(refused.requireStatus(422).text()).contains("/payload/parts/0/client_secret", "write the values");
        redrive(run, "{\"parts\":[{\"client_secret\":\"[redacted]\",\"n\":2},null]}")
                .requireStatus(201);
    }

    @Test
    void the_counts_of_dead_runs_end_at_ten_thousand() {
        String key = SERVER.createProject("graveyard");
        SERVER.database()
                .execute("INSERT INTO carillon.dead_run (project, id, state, queue, priority, attempt, failures,"
                        + " crashes, due_at, origin, target, target_name, codec, payload, died_at) SELECT 'graveyard',"
                        + " gen_random_uuid(), 'dead', 'q', 1, 1, 1, 0, carillon.clock(), 'direct', 'handler', 'a',"
                        + " 'json', '{}', carillon.clock() FROM generate_series(1, 10001)");

        RestTestServer.Reply counts = SERVER.get(key, "/v1/stats").requireStatus(200);

        assertThat(counts.at("/dead")).isEqualTo("10000");
        assertThat(counts.json().at("/more").booleanValue()).isTrue();
        assertThat(SERVER.get(key(), "/v1/stats").json().at("/more").booleanValue())
                .isFalse();
    }

    @Test
    void the_body_of_a_dead_webhook_is_edited_and_its_target_stays() {
        String run = SERVER.post(
                        key(),
                        "/v1/runs",
                        "{\"target\":{\"url\":\"https://127.0.0.1:1/hook\"},\"payload\":{\"id\":1,\"token\":\"t\"}}")
                .requireStatus(201)
                .at("/run");
        SERVER.database()
                .execute("WITH gone AS (DELETE FROM carillon.run WHERE target_name = 'webhook' RETURNING *)"
                        + " INSERT INTO carillon.dead_run (project, id, state, queue, priority, attempt, failures,"
                        + " crashes, due_at, origin, target, target_name, codec, payload, died_at) SELECT project, id,"
                        + " 'dead', queue, priority, 1, 1, 0, due_at, origin, target, target_name, codec, payload,"
                        + " carillon.clock() FROM gone");
        SERVER.database()
                .execute("INSERT INTO carillon.run_history (project, id, day, queue, priority, node_deaths, crashes,"
                        + " attempt, failures, due_at, ended_at, created_at, state, origin, target, target_name)"
                        + " SELECT project, id, (carillon.clock() AT TIME ZONE 'UTC')::date, queue, priority, 0, 0, 1,"
                        + " 1, due_at, died_at, died_at, 'dead', origin, target, target_name FROM carillon.dead_run"
                        + " WHERE target_name = 'webhook'");
        assertThat(SERVER.get(key(), "/v1/runs/" + run).at("/target/body"))
                .isEqualTo("{\"id\":1,\"token\":\"[redacted]\"}");

        String again = redrive(run, "{\"id\":2,\"token\":\"[redacted]\"}")
                .requireStatus(201)
                .at("/run");

        RestTestServer.Reply shown = SERVER.get(key(), "/v1/runs/" + again);
        assertThat(shown.at("/target/url")).isEqualTo("https://127.0.0.1:1/hook");
        assertThat(SERVER.database()
                        .query("SELECT convert_from(payload, 'UTF8') AS payload FROM carillon.run WHERE id IN"
                                + " (SELECT id FROM carillon.run WHERE target_name = 'webhook')")
                        .rows()
                        .toString())
                .contains("\\\"id\\\":2", "\\\"token\\\":\\\"t\\\"");
    }
}
