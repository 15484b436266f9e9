package io.carillon.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.RestTestServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Problems say what the caller did wrong and what would do. */
class ProblemTextsTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    @ParameterizedTest
    @ValueSource(strings = {"{", "{\"target\"", "{\"target\":{\"handler\":\"a", "{\"target\":{\"handler\":\"a\"},"})
    void a_truncated_body_is_called_truncated(String body) {
        RestTestServer.Reply reply =
                SERVER.post(SERVER.bootstrap(), "/v1/runs", body).requireStatus(400);

        assertThat(reply.code()).isEqualTo("malformed-json");
        assertThat(reply.at("/detail")).contains("truncated", "(line 1, column ");
    }

    @Test
    void an_empty_body_is_called_empty() {
        assertThat(SERVER.send(SERVER.bootstrap(), "POST", "/v1/runs", "", "Content-Type", "application/json")
                        .requireStatus(400)
                        .at("/detail"))
                .contains("it is empty");
    }

    @ParameterizedTest
    @CsvSource({"url,https://a.example/x", "endpoint,orders"})
    void a_target_with_a_handler_and_a_webhook_says_so(String field, String value) {
        RestTestServer.Reply reply = SERVER.post(
                        SERVER.bootstrap(),
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"a\",\"%s\":\"%s\"}}".formatted(field, value))
                .requireStatus(422);

        assertThat(reply.at("/errors/0/pointer")).isEqualTo("/target/handler");
        assertThat(reply.at("/errors/0/detail")).contains("either a handler, or the endpoint or url");
    }

    @Test
    void a_field_of_a_webhook_beside_a_handler_says_so() {
        RestTestServer.Reply reply = SERVER.post(
                        SERVER.bootstrap(), "/v1/runs", "{\"target\":{\"handler\":\"a\",\"headers\":{\"x\":\"y\"}}}")
                .requireStatus(422);

        assertThat(reply.at("/errors/0/pointer")).isEqualTo("/target/headers");
        assertThat(reply.at("/errors/0/detail")).contains("belongs to a webhook", "endpoint or url");
    }

    @Test
    void empty_fields_of_generated_clients_say_nothing() {
        SERVER.post(
                        SERVER.bootstrap(),
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"a\",\"headers\":{},\"success\":[],\"body\":null}}")
                .requireStatus(201);
        SERVER.post(
                        SERVER.bootstrap(),
                        "/v1/runs",
                        "{\"target\":{\"url\":\"https://a.example/\",\"headers\":{},\"success\":[]}}")
                .requireStatus(201);
    }

    @Test
    void a_missing_scope_names_those_that_would_do() {
        String reader = SERVER.createKey("read");

        assertThat(SERVER.post(reader, "/v1/runs", "{}").requireStatus(403).at("/detail"))
                .contains("one of the scopes admin, enqueue, manage", "your key has read");
        assertThat(SERVER.get(reader, "/v1/keys").requireStatus(403).at("/detail"))
                .contains("the scope admin");
        assertThat(SERVER.get(SERVER.createProject("small"), "/v1/nodes")
                        .requireStatus(403)
                        .at("/detail"))
                .contains("a key of the project \"default\" with the scope admin");
        String restricted = SERVER.post(
                        SERVER.bootstrap(), "/v1/keys", "{\"name\":\"r\",\"scopes\":[\"read\"],\"queues\":[\"mail\"]}")
                .requireStatus(201)
                .at("/key");
        assertThat(SERVER.get(restricted, "/v1/stats").requireStatus(403).at("/detail"))
                .contains("restricted", "one of the scopes admin, manage, read");
    }
}
