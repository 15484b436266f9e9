package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

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

/** Bad input on every declared operation is answered as declared: never by a 5xx, a stack or a word of SQL. */
class BadInputTest {
    @RegisterExtension
    static final Served SERVED = new Served();

    private static String run;

    @BeforeAll
    static void something_to_spoil() {
        SERVED.put(SERVED.bootstrap(), "/v1/schedules/there", Samples.body(operation("putSchedule")));
        run = SERVED.post(SERVED.bootstrap(), "/v1/runs", Samples.body(operation("enqueue")))
                .is(201)
                .at("/run");
    }

    private static Contract.Operation operation(String id) {
        return Contract.the().operations().stream()
                .filter(one -> one.node().path("operationId").stringValue("").equals(id))
                .findFirst()
                .orElseThrow();
    }

    static Stream<Contract.Operation> withBody() {
        return Contract.the().operations().stream().filter(Contract.Operation::hasBody);
    }

    static Stream<Contract.Operation> withQuery() {
        return Contract.the().operations().stream()
                .filter(operation -> !operation.path().equals("/v1/stream"));
    }

    private static Served.Reply send(Contract.Operation operation, String body, String... headers) {
        Served.Reply reply = SERVED.send(
                SERVED.bootstrap(), operation.method(), Samples.path(operation, "there", run), body, headers);
        assertThat(reply.text()).doesNotContain("SELECT", "java.", "carillon.run", "Exception", "SQLSTATE");
        return reply;
    }

    @ParameterizedTest
    @MethodSource("withBody")
    void refuses_what_is_not_the_json_it_wants(Contract.Operation operation) {
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
        assertThat(send(operation, "{\"a\":1}").is(422).at("/errors/0/pointer")).isNotEmpty();
        send(operation, "{}", "Content-Type", "text/plain").is(415);
        send(operation, "{\"a\":\"" + "x".repeat(3_000_000) + "\"}").is(413);
    }

    @ParameterizedTest
    @MethodSource("withBody")
    void refuses_or_takes_every_odd_value_in_every_field(Contract.Operation operation) {
        ObjectNode good = (ObjectNode) Served.JSON.readTree(Samples.body(operation));
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
                Served.Reply reply = send(operation, spoiled(good, pointer, value));
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

    private static String spoiled(ObjectNode good, String pointer, String value) {
        ObjectNode copy = good.deepCopy();
        int slash = pointer.lastIndexOf('/');
        JsonNode parent = copy.at(pointer.substring(0, slash));
        String name = pointer.substring(slash + 1);
        // As text, because a tree would not keep numbers as they are written.
        if (parent instanceof ArrayNode array) array.set(Integer.parseInt(name), "@@");
        else ((ObjectNode) parent).put(name, "@@");
        return copy.toString().replace("\"@@\"", value);
    }

    @ParameterizedTest
    @MethodSource("withQuery")
    void refuses_odd_queries_and_names(Contract.Operation operation) {
        String path = Samples.path(operation, "there", run);
        String body = Samples.wrong(operation);
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
                assertThat(SERVED.send(SERVED.bootstrap(), operation.method(), path + query, body)
                                .status())
                        .as("%s%s", operation, query)
                        .isBetween(400, 422);
        for (String name : List.of("%00", "%ed%a0%80", "..%2f", "a%20b", "%27--", "x".repeat(3_000), "%F0%9F%92%A9")) {
            if (!operation.path().contains("{")) continue;
            String odd = operation.path().replaceAll("\\{[a-z]+}", name);
            assertThat(SERVED.raw(SERVED.server().port(), SERVED.bootstrap(), operation.method(), odd, body)
                            .status())
                    .as("%s %s", operation, odd)
                    .isBetween(400, 422);
        }
    }

    @Test
    void odd_headers_are_refused_or_ignored() {
        Contract.Operation put = operation("putSchedule");
        send(put, Samples.body(put), "If-Match", "nonsense").is(412);
        assertThat(send(put, Samples.body(put), "Idempotency-Key", "x".repeat(201))
                        .is(400)
                        .at("/errors/0/pointer"))
                .isEqualTo("Idempotency-Key");
        SERVED.raw(SERVED.server().port(), SERVED.bootstrap(), "GET", "/v1/stats", null, "X-Odd", "y".repeat(20_000))
                .is(431);
    }

    @Test
    void who_is_refused_before_his_body_came_hears_that_the_connection_closes() {
        String line = "PUT /v1/schedules/there?odd=1 HTTP/1.1";
        List<String> headers = List.of(
                "Host: localhost",
                "Authorization: Bearer " + SERVED.bootstrap(),
                "Content-Type: application/json",
                "Content-Length: 2");

        Served.Reply early = RawHttp.begin(SERVED.server().port(), new RawHttp.Request(line, headers, new byte[0]));
        Served.Reply complete = RawHttp.begin(
                SERVED.server().port(), new RawHttp.Request(line, headers, "{}".getBytes(StandardCharsets.UTF_8)));

        assertThat(early.is(400).header("connection")).contains("close");
        assertThat(complete.is(400).header("connection")).isEmpty();
    }
}
