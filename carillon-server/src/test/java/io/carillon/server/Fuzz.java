package io.carillon.server;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Makes requests out of the description of the interface: those that fit it, and those that almost do. The same seed makes the same requests. */
final class Fuzz {
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
            "schedule=nobody",
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

    /** What there is to speak of: keys by what they may do, and names and ids that answers showed. */
    record World(List<String> keys, List<String> names, List<String> runs, List<String> cursors) {}

    private final Random random;
    private final World world;

    Fuzz(Random random, World world) {
        this.random = random;
        this.world = world;
    }

    private <T> T any(List<T> all) {
        return all.get(random.nextInt(all.size()));
    }

    /** Once in so many times. */
    private boolean once(int in) {
        return random.nextInt(in) == 0;
    }

    RawHttp.Request request(Contract.Operation operation) {
        List<String> headers = new ArrayList<>(List.of("Host: localhost", "Connection: close"));
        if (!once(60)) headers.add("Authorization: Bearer " + key());
        byte[] body = operation.hasBody() && !once(15) ? body(operation) : once(10) ? bytes("{}") : new byte[0];
        if (body.length > 0) headers.add("Content-Type: " + (once(20) ? any(ODD_TYPES) : "application/json"));
        if (body.length > 0 || once(2)) headers.add("Content-Length: " + (once(80) ? body.length + 3 : body.length));
        while (once(6)) headers.add(any(ODD_HEADERS));
        if (once(asks(operation, "If-Match") ? 2 : 20)) headers.add("If-Match: \"" + random.nextInt(5) + "\"");
        if (once(asks(operation, "Idempotency-Key") ? 3 : 20))
            headers.add("Idempotency-Key: " + operation.method() + random.nextInt(3));
        String method = once(60) ? any(List.of("HEAD", "OPTIONS", "TRACE", "get", "BREW", "POST")) : operation.method();
        String version = once(200) ? any(List.of("HTTP/1.0", "HTTP/9.9", "")) : "HTTP/1.1";
        return new RawHttp.Request(method + " " + path(operation) + query(operation) + " " + version, headers, body);
    }

    private static boolean asks(Contract.Operation operation, String header) {
        return operation.parameters("header").contains(header);
    }

    /** Mostly one that may do it: who is refused at the door gets to see little. */
    private String key() {
        if (once(100)) return any(List.of("crl_odd", "", "x".repeat(5_000), "\u00ff", "a b"));
        return once(4) ? any(world.keys()) : world.keys().get(0);
    }

    private String path(Contract.Operation operation) {
        StringBuilder path = new StringBuilder();
        for (String part : operation.path().substring(1).split("/", -1)) {
            path.append('/');
            if (!part.startsWith("{")) path.append(part);
            else if (once(6)) path.append(any(ODD_NAMES));
            else path.append(any(operation.path().startsWith("/v1/runs/") ? world.runs() : world.names()));
        }
        return once(80) ? path + any(List.of("/", "//", "/..", "/%2e", ";a=b", "%00")) : path.toString();
    }

    private String query(Contract.Operation operation) {
        List<String> known = List.copyOf(operation.parameters("query"));
        List<String> pairs = new ArrayList<>();
        while (!known.isEmpty() && once(2)) {
            String name = any(known);
            pairs.add(name + "=" + (name.equals("cursor") ? any(world.cursors()) : value(name)));
        }
        if (once(8)) pairs.add(any(ODD_PARAMETERS));
        return pairs.isEmpty() ? "" : "?" + String.join("&", pairs);
    }

    private String value(String name) {
        return switch (name) {
            case "limit" -> Integer.toString(1 + random.nextInt(5));
            case "state" -> any(List.of("waiting", "running", "succeeded", "dead", "cancelled", "quarantined"));
            case "from" -> "2026-01-01T00:00:00Z";
            case "to" -> "2026-03-01T00:00:00Z";
            default -> any(world.names());
        };
    }

    private byte[] body(Contract.Operation operation) {
        ObjectNode sample = (ObjectNode) Served.JSON.readTree(Samples.body(operation));
        JsonNode schema = operation.node().at("/requestBody/content/application~1json/schema");
        while (once(2)) enrich(sample, Contract.the().resolved(schema));
        String text = sample.toString();
        if (once(2)) text = spoiled(sample);
        if (once(6)) text = broken(text);
        if (once(60)) return text.getBytes(any(ODD_CHARSETS));
        byte[] bytes = bytes(text);
        if (once(40) && bytes.length > 0) bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        return bytes;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** One more of the declared fields, with a value of its type. */
    private void enrich(ObjectNode body, JsonNode schema) {
        List<Map.Entry<String, JsonNode>> fields =
                new ArrayList<>(schema.path("properties").properties());
        if (fields.isEmpty()) return;
        Map.Entry<String, JsonNode> field = any(fields);
        JsonNode declared = Contract.the().resolved(field.getValue());
        if (declared.path("type").stringValue("").equals("object") && body.get(field.getKey()) instanceof ObjectNode in)
            enrich(in, declared);
        else body.set(field.getKey(), Served.JSON.readTree(fitting(field.getKey(), declared)));
    }

    private String fitting(String name, JsonNode schema) {
        if (schema.has("enum")) {
            List<JsonNode> words = new ArrayList<>();
            schema.path("enum").forEach(words::add);
            return any(words).toString();
        }
        return switch (schema.path("type").stringValue("")) {
            case "integer" -> any(List.of("0", "1", "7", "100", "2000000000"));
            case "number" -> any(List.of("0.5", "1", "1000"));
            case "boolean" -> any(List.of("true", "false"));
            case "array" -> "[" + fitting(name, Contract.the().resolved(schema.path("items"))) + "]";
            case "object" -> "{}";
            case "string" ->
                any(List.of(
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
            default -> any(ODD_VALUES.subList(0, 12));
        };
    }

    /** One field, at any depth, with an odd value; as text, because a tree would not keep numbers as they are written. */
    private String spoiled(ObjectNode good) {
        List<JsonNode> parents = new ArrayList<>();
        collect(good, parents);
        JsonNode parent = any(parents);
        if (parent instanceof ArrayNode array) array.add("@@");
        else if (parent.isEmpty()) ((ObjectNode) parent).put("odd", "@@");
        else ((ObjectNode) parent).put(any(List.copyOf(parent.propertyNames())), "@@");
        return good.toString().replace("\"@@\"", any(ODD_VALUES));
    }

    private static void collect(JsonNode node, List<JsonNode> parents) {
        if (node.isObject() || node.isArray()) parents.add(node);
        node.forEach(inner -> collect(inner, parents));
    }

    private String broken(String text) {
        int at = random.nextInt(text.length() + 1);
        return switch (random.nextInt(11)) {
            case 0 -> text.substring(0, at);
            case 1 ->
                text.substring(0, at)
                        + any(List.of("\u0000", "\"", "{", "]", ",", "\\", "/*x*/", "\uFEFF"))
                        + text.substring(at);
            case 2 -> text + text;
            case 3 -> text.replaceFirst("\\{", "{\"a\":1,\"a\":2,");
            case 4 -> "{\"a\":" + "[".repeat(10_000) + "]".repeat(10_000) + "}";
            case 5 -> "{\"a\":" + "{\"a\":".repeat(70) + "1" + "}".repeat(70) + "}";
            case 6 -> "{\"a\":\"" + "x".repeat(2_200_000) + "\"}";
            case 7 -> "{\"" + LONG + "\":1}";
            case 8 -> "{\"a\":" + "9".repeat(2_000) + "}";
            case 9 -> text.replaceFirst("\\{", "{\"payload\":\"" + "p".repeat(300_000) + "\",");
            default -> any(List.of("", " ", "null", "[]", "1", "\"x\"", "\uFEFF{}", "{}\n{}", "NaN"));
        };
    }
}
