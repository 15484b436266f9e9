package io.carillon.server.http;

import io.carillon.value.Names;
import io.carillon.value.Nearest;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.node.JsonNodeFactory;

/** One request as a route sees it: who calls, the values in its path, its query, headers and body. */
public final class Call {
    private static final int PAGE = 50;
    private static final int MOST = 200;

    private final Head head;
    private final byte[] body;
    private final Caller caller;

    /** All of a request but its body. */
    record Head(
            Route route,
            Map<String, String> values,
            Map<String, List<String>> query,
            Map<String, String> headers,
            String requestId,
            String remote) {}

    Call(Head head, byte[] body, Caller caller) {
        this.head = head;
        this.body = body;
        this.caller = caller;
    }

    Call by(Caller known) {
        return new Call(head, body, known);
    }

    public Caller caller() {
        return caller;
    }

    public String requestId() {
        return head.requestId();
    }

    /** Where the connection comes from. */
    public String remote() {
        return head.remote();
    }

    public Route route() {
        return head.route();
    }

    public byte[] body() {
        return body;
    }

    /** A value of the path, as it is. */
    public String value(String name) {
        String value = head.values().get(name);
        if (value == null) throw new IllegalArgumentException("the path has no " + name);
        return value;
    }

    /** The path as it was asked for, for what depends on which thing it names. */
    public String target() {
        return head.route().method() + " " + head.route().path() + " " + head.values();
    }

    /** A value of the path that names something there is: what cannot be a name names nothing. */
    public String name(String name) {
        try {
            return Names.check(name, value(name));
        } catch (io.carillon.value.CarillonException impossible) {
            throw Problem.missing(name);
        }
    }

    public Optional<String> header(String name) {
        return Optional.ofNullable(head.headers().get(name.toLowerCase(java.util.Locale.ROOT)));
    }

    public Optional<String> query(String name) {
        List<String> values = head.query().getOrDefault(name, List.of());
        if (values.size() > 1)
            throw Problem.of(400, "invalid-parameter", "A query parameter stands there twice.")
                    .at(name, "Give it once.");
        return values.stream().findFirst();
    }

    public Optional<Instant> instant(String name) {
        return query(name)
                .map(text -> Fields.instantOf(text)
                        .orElseThrow(() -> parameter(name, "This must be " + Fields.INSTANT + ".")));
    }

    /** How many a page of a list has. */
    public int limit() {
        return query("limit").map(text -> count("limit", text, MOST)).orElse(PAGE);
    }

    /** A small number among the query parameters. */
    public int count(String name, String text, int most) {
        if (!text.matches("[0-9]{1,9}") || Integer.parseInt(text) < 1 || Integer.parseInt(text) > most)
            throw parameter(name, "This must be a number from 1 to %d.".formatted(most));
        return Integer.parseInt(text);
    }

    /** One of these words among the query parameters. */
    public Optional<String> word(String name, List<String> words) {
        Optional<String> value = query(name);
        if (value.isPresent() && !words.contains(value.get()))
            throw parameter(
                    name,
                    "This must be one of %s.%s".formatted(String.join(", ", words), Nearest.hint(value.get(), words)));
        return value;
    }

    public static Problem parameter(String name, String detail) {
        return Problem.of(400, "invalid-parameter", "A query parameter is not valid. See errors.")
                .at(name, detail);
    }

    /** The fields of the body. */
    public Fields fields() {
        String type = header("Content-Type").orElse("").toLowerCase(java.util.Locale.ROOT);
        if (!type.equals("application/json") && !type.startsWith("application/json;"))
            throw Problem.of(
                    415, "unsupported-media-type", "Send the body as application/json, and say so in Content-Type.");
        return new Fields(Json.object(body), "");
    }

    /** The same where a body may be left out. */
    public Fields optionalFields() {
        return body.length == 0 ? new Fields(JsonNodeFactory.instance.objectNode(), "") : fields();
    }
}
