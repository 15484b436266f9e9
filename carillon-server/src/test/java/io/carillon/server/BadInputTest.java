package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.openapi.OpenApiDescription;
import io.carillon.server.openapi.SampleRequests;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Bad input to every declared operation is answered as declared: never with a 5xx status, a stack trace or SQL. */
class BadInputTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static String run;

    @BeforeAll
    static void create_sample_data() {
        SERVER.put(SERVER.bootstrap(), "/v1/schedules/there", SampleRequests.body(operation("putSchedule")));
        run = SERVER.post(SERVER.bootstrap(), "/v1/runs", SampleRequests.body(operation("enqueue")))
                .requireStatus(201)
                .at("/run");
    }

    private static OpenApiDescription.Operation operation(String id) {
        return OpenApiDescription.instance().operations().stream()
                .filter(one -> one.node().path("operationId").stringValue("").equals(id))
                .findFirst()
                .orElseThrow();
    }

    static Stream<OpenApiDescription.Operation> withBody() {
        return OpenApiDescription.instance().operations().stream().filter(OpenApiDescription.Operation::hasBody);
    }

    static Stream<OpenApiDescription.Operation> withQuery() {
        return OpenApiDescription.instance().operations().stream().filter(operation -> !operation.isStream());
    }

    private static RestTestServer.Reply send(OpenApiDescription.Operation operation, String body, String... headers) {
        RestTestServer.Reply reply = SERVER.send(
                SERVER.bootstrap(), operation.method(), SampleRequests.path(operation, "there", run), body, headers);
        assertThat(reply.text()).doesNotContain("SELECT", "java.", "carillon.run", "Exception", "SQLSTATE");
        return reply;
    }

    @ParameterizedTest
    @MethodSource("withBody")
    void refuses_bodies_that_are_not_the_declared_json(OpenApiDescription.Operation operation) {
        String deep = "[".repeat(10_000) + "]".repeat(10_000);
        List<String> bodies = List.of(
                "{",
                "[]",
                "null",
                "\"x\"",
                "1",
                "{} {}",
                "{\"a\":1,\"a\":2}",
                "{\"a\":" + deep + "}",
                "{'a':1}",
                "\u0000",
                "{\"a\":\"\\u0000\"}",
                "{\"a\":\"\\ud800\"}",
                "{\"\\udc00\":1}",
                "{\"a\":NaN}",
                "{\"a\":" + "9".repeat(2_000) + "}");
        for (String body : bodies)
            assertThat(send(operation, body).status())
                    .as("%s with %.50s", operation, body)
                    .isBetween(400, 422);
        assertThat(send(operation, "{\"a\":1}").requireStatus(422).at("/errors/0/pointer"))
                .isNotEmpty();
        assertThat(send(operation, "{}", "Content-Type", "text/plain")
                        .requireStatus(415)
                        .at("/detail"))
                .isEqualTo("Content-Type must be application/json (was text/plain).");
        send(operation, "{\"a\":\"" + "x".repeat(3_000_000) + "\"}").requireStatus(413);
    }

    @ParameterizedTest
    @MethodSource("withBody")
    void refuses_or_accepts_every_odd_value_in_every_field(OpenApiDescription.Operation operation) {
        ObjectNode good = (ObjectNode) RestTestServer.JSON.readTree(SampleRequests.body(operation));
        List<String> odd = List.of(
                "null",
                "true",
                "-1",
                "0",
                "1e400",
                "-0",
                "99999999999999999999",
                "9".repeat(350),
                "\"\"",
                "\"\u202e\"",
                "\"' OR 1=1 --\"",
                "[]",
                "{}",
                "[[[]]]",
                "\"9999-12-31T23:59:60Z\"",
                "\"+1000000000-12-31T23:59:59Z\"",
                "\"-0001-01-01T00:00:00Z\"",
                "\"PT99999999999999H\"",
                "\"" + "n".repeat(10_000) + "\"");
        for (String pointer : pointers(good, ""))
            for (String value : odd) {
                RestTestServer.Reply reply = send(operation, withValue(good, pointer, value));
                assertThat(reply.status())
                        .as("%s %s=%.40s: %s", operation, pointer, value, reply.text())
                        .isLessThan(500);
            }
    }

    private static List<String> pointers(JsonNode node, String at) {
        List<String> all = new ArrayList<>();
        node.properties().forEach(field -> {
            String here = at + "/" + field.getKey();
            all.add(here);
            all.addAll(pointers(field.getValue(), here));
        });
        for (int i = 0; node.isArray() && i < node.size(); i++) all.add(at + "/" + i);
        return all;
    }

    private static String withValue(ObjectNode good, String pointer, String value) {
        ObjectNode copy = good.deepCopy();
        int slash = pointer.lastIndexOf('/');
        JsonNode parent = copy.at(pointer.substring(0, slash));
        String name = pointer.substring(slash + 1);
        // Edits the text, because a JSON tree would not keep numbers as they are written.
        if (parent instanceof ArrayNode array) array.set(Integer.parseInt(name), "@@");
        else ((ObjectNode) parent).put(name, "@@");
        return copy.toString().replace("\"@@\"", value);
    }

    @ParameterizedTest
    @MethodSource("withQuery")
    void refuses_odd_queries_and_names(OpenApiDescription.Operation operation) {
        String path = SampleRequests.path(operation, "there", run);
        String body = SampleRequests.invalidBody(operation);
        for (String query : List.of(
                "?odd=1",
                "?%00=1",
                "?limit=x",
                "?limit=-1",
                "?limit=999999999999",
                "?cursor=%25",
                "?cursor=AAAA",
                "?from=now",
                "?a=%zz",
                "?=&&",
                "?limit=1&limit=2"))
            if (!query.equals("?a=%zz"))
                assertThat(SERVER.send(SERVER.bootstrap(), operation.method(), path + query, body)
                                .status())
                        .as("%s%s", operation, query)
                        .isBetween(400, 422);
        for (String name : List.of("%00", "%ed%a0%80", "..%2f", "a%20b", "%27--", "x".repeat(3_000), "%F0%9F%92%A9")) {
            if (!operation.path().contains("{")) continue;
            String odd = operation.path().replaceAll("\\{[a-z]+}", name);
            assertThat(SERVER.sendTo(SERVER.server().port(), SERVER.bootstrap(), operation.method(), odd, body)
                            .status())
                    .as("%s %s", operation, odd)
                    .isBetween(400, 422);
        }
    }

    @Test
    void odd_headers_are_refused_or_ignored() {
        OpenApiDescription.Operation put = operation("putSchedule");
        send(put, SampleRequests.body(put), "If-Match", "nonsense").requireStatus(412);
        assertThat(send(put, SampleRequests.body(put), "Idempotency-Key", "x".repeat(201))
                        .requireStatus(400)
                        .at("/errors/0/pointer"))
                .isEqualTo("Idempotency-Key");
        SERVER.sendTo(SERVER.server().port(), SERVER.bootstrap(), "GET", "/v1/stats", null, "X-Odd", "y".repeat(20_000))
                .requireStatus(431);
    }

    @Test
    void a_request_refused_before_its_body_was_read_gets_connection_close() {
        String line = "PUT /v1/schedules/there?odd=1 HTTP/1.1";
        List<String> headers = List.of(
                "Host: localhost",
                "Authorization: Bearer " + SERVER.bootstrap(),
                "Content-Type: application/json",
                "Content-Length: 2");

        RestTestServer.Reply early =
                RawHttp.sendIncomplete(SERVER.server().port(), new RawHttp.Request(line, headers, new byte[0]));
        RestTestServer.Reply complete = RawHttp.sendIncomplete(
                SERVER.server().port(), new RawHttp.Request(line, headers, "{}".getBytes(StandardCharsets.UTF_8)));

        assertThat(early.requireStatus(400).header("connection")).contains("close");
        assertThat(complete.requireStatus(400).header("connection")).isEmpty();
    }
}
