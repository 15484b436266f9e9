package io.carillon.server;

import io.carillon.server.openapi.OpenApiDescription;
import io.carillon.server.openapi.SampleRequests;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Generates requests from the API description: valid and almost valid ones. The same seed generates the same requests.
 */
final class RequestFuzzer {
    private static final String LONG = "n".repeat(10_000);
    private static final List<String> ODD_VALUES = List.of(
            "null",
            "true",
            "-1",
            "0",
            "-0",
            "1e400",
            "-1e-400",
            "1E999999999",
            "0.1",
            "2147483648",
            "9223372036854775808",
            "9".repeat(350),
            "\"\"",
            "\" \"",
            "\"\\u0000\"",
            "\"\\ud800\"",
            "\"\\udc00\\ud800\"",
            "\"\\u202e\\u200b\"",
            "\"a\\nb\"",
            "\"' OR 1=1; --\"",
            "\"%s%n${x}\"",
            "\"../../x\"",
            "\"2026-02-30T00:00:00Z\"",
            "\"9999-12-31T23:59:59.999999999Z\"",
            "\"0002-01-01T00:00:00+18:00\"",
            "\"2026-01-01\"",
            "\"PT-1S\"",
            "\"P99999999D\"",
            "\"0s\"",
            "\"99999999999d\"",
            "\"0 0 30 2 *\"",
            "\"* * * * * * *\"",
            "\"@never\"",
            "\"Mars/Olympus\"",
            "[]",
            "{}",
            "[null]",
            "[[[[]]]]",
            "{\"a\":{\"b\":[1,\"x\"]}}",
            "\"" + LONG + "\"");
    private static final List<String> ODD_NAMES = List.of(
            "%00",
            "%",
            "%zz",
            "%ed%a0%80",
            "%c0%80",
            "%ff",
            "..",
            ".",
            "..%2f..",
            "%2e%2e",
            "a%20b",
            "a;b=c",
            "%F0%9F%92%A9",
            "\u00fc",
            "A",
            "-",
            "a%0d%0ax",
            "%5c",
            "run_ZZZZZZZZZZZZZZZZZZZZZZZZZZ",
            "run_00000000000000000000000000",
            "aud_00000000000000000000000000",
            "null",
            "x".repeat(3_000),
            "");
    private static final List<String> ODD_PARAMETERS = List.of(
            "odd=1",
            "%00=1",
            "limit=",
            "limit=0",
            "limit=-1",
            "limit=1e3",
            "limit=999999999999",
            "limit=1&limit=2",
            "cursor=",
            "cursor=AAAA",
            "cursor=%25",
            "cursor=" + "A".repeat(2_000),
            "from=now",
            "from=2026-01-01T00:00:00Z&to=2025-01-01T00:00:00Z",
            "to=9999-12-31T23:59:59Z",
            "from=0002-01-01T00:00:00Z",
            "state=%E2%80%AE",
            "state=waiting&state=dead",
            "queue=%27%3B--",
            "handler=%25_%5C",
            "handler=" + "h".repeat(4_000),
            "schedule=unknown",
            "action=%00",
            "action=%27",
            "=",
            "&&&",
            "a=%zz",
            "\u00ff=\u00fe",
            "?",
            "#x");
    private static final List<String> ODD_HEADERS = List.of(
            "If-Match: nonsense",
            "If-Match: *",
            "If-Match: \"1\", W/\"2\"",
            "If-Match: \"99999999999999999999\"",
            "If-None-Match: *",
            "If-None-Match: \"1\"",
            "Idempotency-Key: shared",
            "Idempotency-Key: ",
            "Idempotency-Key: \u00ff\u00fe",
            "Idempotency-Key: " + "k".repeat(300),
            "X-Request-Id: <script>",
            "X-Request-Id: " + "r".repeat(500),
            "X-Http-Method-Override: DELETE",
            "Expect: 100-continue",
            "Expect: miracles",
            "Accept: text/html;q=0",
            "Accept-Encoding: gzip",
            "Range: bytes=0-1",
            "Connection: upgrade\r\nUpgrade: h2c",
            "Cookie: a=b; c",
            "Forwarded: for=unknown",
            "X-Odd: " + "y".repeat(20_000),
            "X-Odd : space",
            "X-Folded: a\r\n b",
            "NoColon",
            ": empty",
            "X-\u00ff: x",
            "X-Odd: a\u0000b",
            "Host: elsewhere",
            "Authorization: Basic YTpi",
            "Content-Length: 5",
            "Content-Length: -1",
            "Content-Length: x",
            "Transfer-Encoding: chunked",
            "Transfer-Encoding: odd",
            "Content-Encoding: gzip");
    private static final List<String> ODD_TYPES = List.of(
            "text/plain",
            "application/json; charset=utf-16",
            "application/jsonp",
            "APPLICATION/JSON",
            "application/json;",
            "",
            "*/*",
            "multipart/form-data");
    private static final List<Charset> ODD_CHARSETS =
            List.of(StandardCharsets.UTF_16, StandardCharsets.UTF_16LE, StandardCharsets.ISO_8859_1);

    /** Values for requests: keys with different scopes, and names, run ids and cursors from earlier responses. */
    record FuzzInputs(List<String> keys, List<String> names, List<String> runs, List<String> cursors) {}

    private final Random random;
    private final FuzzInputs inputs;

    RequestFuzzer(Random random, FuzzInputs inputs) {
        this.random = random;
        this.inputs = inputs;
    }

    private <T> T pick(List<T> all) {
        return all.get(random.nextInt(all.size()));
    }

    /** Returns true with a probability of 1/{@code in}. */
    private boolean oneIn(int in) {
        return random.nextInt(in) == 0;
    }

    RawHttp.Request request(OpenApiDescription.Operation operation) {
        List<String> headers = new ArrayList<>(List.of("Host: localhost", "Connection: close"));
        if (!oneIn(60)) headers.add("Authorization: Bearer " + key());
        byte[] body = operation.hasBody() && !oneIn(15) ? body(operation) : oneIn(10) ? bytes("{}") : new byte[0];
        if (body.length > 0) headers.add("Content-Type: " + (oneIn(20) ? pick(ODD_TYPES) : "application/json"));
        if (body.length > 0 || oneIn(2)) headers.add("Content-Length: " + (oneIn(80) ? body.length + 3 : body.length));
        while (oneIn(6)) headers.add(pick(ODD_HEADERS));
        if (oneIn(declaresHeader(operation, "If-Match") ? 2 : 20))
            headers.add("If-Match: \"" + random.nextInt(5) + "\"");
        if (oneIn(declaresHeader(operation, "Idempotency-Key") ? 3 : 20))
            headers.add("Idempotency-Key: " + operation.method() + random.nextInt(3));
        String method =
                oneIn(60) ? pick(List.of("HEAD", "OPTIONS", "TRACE", "get", "BREW", "POST")) : operation.method();
        String version = oneIn(200) ? pick(List.of("HTTP/1.0", "HTTP/9.9", "")) : "HTTP/1.1";
        return new RawHttp.Request(method + " " + path(operation) + query(operation) + " " + version, headers, body);
    }

    private static boolean declaresHeader(OpenApiDescription.Operation operation, String header) {
        return operation.parameters("header").contains(header);
    }

    /** Usually returns a key with the required scope, because a rejected key does not reach the operation. */
    private String key() {
        if (oneIn(100)) return pick(List.of("crl_odd", "", "x".repeat(5_000), "\u00ff", "a b"));
        return oneIn(4) ? pick(inputs.keys()) : inputs.keys().get(0);
    }

    private String path(OpenApiDescription.Operation operation) {
        StringBuilder path = new StringBuilder();
        for (String part : operation.path().substring(1).split("/", -1)) {
            path.append('/');
            if (!part.startsWith("{")) path.append(part);
            else if (oneIn(6)) path.append(pick(ODD_NAMES));
            else path.append(pick(operation.path().startsWith("/v1/runs/") ? inputs.runs() : inputs.names()));
        }
        return oneIn(80) ? path + pick(List.of("/", "//", "/..", "/%2e", ";a=b", "%00")) : path.toString();
    }

    private String query(OpenApiDescription.Operation operation) {
        List<String> known = List.copyOf(operation.parameters("query"));
        List<String> pairs = new ArrayList<>();
        while (!known.isEmpty() && oneIn(2)) {
            String name = pick(known);
            pairs.add(name + "=" + (name.equals("cursor") ? pick(inputs.cursors()) : value(name)));
        }
        if (oneIn(8)) pairs.add(pick(ODD_PARAMETERS));
        return pairs.isEmpty() ? "" : "?" + String.join("&", pairs);
    }

    private String value(String name) {
        return switch (name) {
            case "limit" -> Integer.toString(1 + random.nextInt(5));
            case "state" -> pick(List.of("waiting", "running", "succeeded", "dead", "cancelled", "quarantined"));
            case "from" -> "2026-01-01T00:00:00Z";
            case "to" -> "2026-03-01T00:00:00Z";
            default -> pick(inputs.names());
        };
    }

    private byte[] body(OpenApiDescription.Operation operation) {
        ObjectNode sample = (ObjectNode) RestTestServer.JSON.readTree(SampleRequests.body(operation));
        JsonNode schema = operation.node().at("/requestBody/content/application~1json/schema");
        while (oneIn(2)) addDeclaredField(sample, OpenApiDescription.instance().resolve(schema));
        String text = sample.toString();
        if (oneIn(2)) text = withOddValue(sample);
        if (oneIn(6)) text = malformed(text);
        if (oneIn(60)) return text.getBytes(pick(ODD_CHARSETS));
        byte[] bytes = bytes(text);
        if (oneIn(40) && bytes.length > 0) bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        return bytes;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Adds a declared field with a value of its type. */
    private void addDeclaredField(ObjectNode body, JsonNode schema) {
        List<Map.Entry<String, JsonNode>> fields =
                new ArrayList<>(schema.path("properties").properties());
        if (fields.isEmpty()) return;
        Map.Entry<String, JsonNode> field = pick(fields);
        JsonNode declared = OpenApiDescription.instance().resolve(field.getValue());
        if (declared.path("type").stringValue("").equals("object") && body.get(field.getKey()) instanceof ObjectNode in)
            addDeclaredField(in, declared);
        else body.set(field.getKey(), RestTestServer.JSON.readTree(validValue(field.getKey(), declared)));
    }

    private String validValue(String name, JsonNode schema) {
        if (schema.has("enum")) {
            List<JsonNode> words = new ArrayList<>();
            schema.path("enum").forEach(words::add);
            return pick(words).toString();
        }
        return switch (schema.path("type").stringValue("")) {
            case "integer" -> pick(List.of("0", "1", "7", "100", "2000000000"));
            case "number" -> pick(List.of("0.5", "1", "1000"));
            case "boolean" -> pick(List.of("true", "false"));
            case "array" -> "[" + validValue(name, OpenApiDescription.instance().resolve(schema.path("items"))) + "]";
            case "object" -> "{}";
            case "string" ->
                pick(List.of(
                        "\"word\"",
                        "\"there\"",
                        "\"PT90S\"",
                        "\"15m\"",
                        "\"2026-06-01T00:00:00Z\"",
                        "\"2999-01-01T00:00:00+02:00\"",
                        "\"*/5 * * * *\"",
                        "\"Europe/Berlin\"",
                        "\"2026-12-25\"",
                        "\"read\"",
                        "\"\u00fc\u4e16\ud83d\ude00\""));
            default -> pick(ODD_VALUES.subList(0, 12));
        };
    }

    /**
     * Replaces one field at any depth by an odd value. Edits the text, because a JSON tree would not keep numbers as
     * they are written.
     */
    private String withOddValue(ObjectNode good) {
        List<JsonNode> parents = new ArrayList<>();
        collect(good, parents);
        JsonNode parent = pick(parents);
        if (parent instanceof ArrayNode array) array.add("@@");
        else if (parent.isEmpty()) ((ObjectNode) parent).put("odd", "@@");
        else ((ObjectNode) parent).put(pick(List.copyOf(parent.propertyNames())), "@@");
        return good.toString().replace("\"@@\"", pick(ODD_VALUES));
    }

    private static void collect(JsonNode node, List<JsonNode> parents) {
        if (node.isObject() || node.isArray()) parents.add(node);
        node.forEach(inner -> collect(inner, parents));
    }

    private String malformed(String text) {
        int at = random.nextInt(text.length() + 1);
        return switch (random.nextInt(11)) {
            case 0 -> text.substring(0, at);
            case 1 ->
                text.substring(0, at)
                        + pick(List.of("\u0000", "\"", "{", "]", ",", "\\", "/*x*/", "\uFEFF"))
                        + text.substring(at);
            case 2 -> text + text;
            case 3 -> text.replaceFirst("\\{", "{\"a\":1,\"a\":2,");
            case 4 -> "{\"a\":" + "[".repeat(10_000) + "]".repeat(10_000) + "}";
            case 5 -> "{\"a\":" + "{\"a\":".repeat(70) + "1" + "}".repeat(70) + "}";
            case 6 -> "{\"a\":\"" + "x".repeat(2_200_000) + "\"}";
            case 7 -> "{\"" + LONG + "\":1}";
            case 8 -> "{\"a\":" + "9".repeat(2_000) + "}";
            case 9 -> text.replaceFirst("\\{", "{\"payload\":\"" + "p".repeat(300_000) + "\",");
            default -> pick(List.of("", " ", "null", "[]", "1", "\"x\"", "\uFEFF{}", "{}\n{}", "NaN"));
        };
    }
}
