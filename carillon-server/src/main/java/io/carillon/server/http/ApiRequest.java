package io.carillon.server.http;

import io.carillon.internal.value.Names;
import io.carillon.internal.value.SpellingSuggester;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.node.JsonNodeFactory;

/** One request with its caller, path values, query parameters, headers and body. */
public final class ApiRequest {
    private static final int DEFAULT_LIMIT = 50;
    private static final int MAX_LIMIT = 200;

    private final Head head;
    private final byte[] body;
    private final Caller caller;

    /** A request without its body. */
    record Head(
            Route route,
            Map<String, String> pathValues,
            Map<String, List<String>> query,
            Map<String, String> headers,
            String requestId,
            String remoteAddress) {}

    ApiRequest(Head head, byte[] body, Caller caller) {
        this.head = head;
        this.body = body;
        this.caller = caller;
    }

    /** Returns a copy with another value of a header. */
    public ApiRequest withHeader(String name, String value) {
        Map<String, String> headers = new HashMap<>(head.headers());
        headers.put(name.toLowerCase(Locale.ROOT), value);
        return new ApiRequest(
                new Head(
                        head.route(), head.pathValues(), head.query(), headers, head.requestId(), head.remoteAddress()),
                body,
                caller);
    }

    public Caller caller() {
        return caller;
    }

    public String requestId() {
        return head.requestId();
    }

    /** Returns the IP address of the client. */
    public String remoteAddress() {
        return head.remoteAddress();
    }

    public Route route() {
        return head.route();
    }

    public byte[] body() {
        return body;
    }

    /** Returns the value of a {@code {name}} segment of the path. */
    public String pathValue(String name) {
        String value = head.pathValues().get(name);
        if (value == null) throw new IllegalArgumentException("the route has no path segment {" + name + "}");
        return value;
    }

    /** Returns method, route and path values as one text, which identifies the requested resource. */
    public String requestedPath() {
        return head.route().method() + " " + head.route().path() + " " + head.pathValues();
    }

    /**
     * Returns a path value that is the name of a resource. A value that is not a valid name is answered with 404, like
     * a name that does not exist.
     */
    public String pathName(String name) {
        try {
            return Names.check(name, pathValue(name));
        } catch (io.carillon.CarillonException impossible) {
            throw Problem.notFound(name);
        }
    }

    public Optional<String> header(String name) {
        return Optional.ofNullable(head.headers().get(name.toLowerCase(Locale.ROOT)));
    }

    public Optional<String> query(String name) {
        List<String> values = head.query().getOrDefault(name, List.of());
        if (values.size() > 1)
            throw Problem.of(400, "invalid-parameter", "Duplicate query parameter. The field \"errors\" says where.")
                    .withFault(name, "Send this parameter only once.");
        return values.stream().findFirst();
    }

    public Optional<Instant> instant(String name) {
        return query(name)
                .map(text -> JsonFields.parseInstant(text)
                        .orElseThrow(() -> invalidParameter(name, "This must be " + JsonFields.INSTANT + ".")));
    }

    /** Returns the page size of a list. */
    public int limit() {
        return query("limit")
                .map(text -> countParameter("limit", text, MAX_LIMIT))
                .orElse(DEFAULT_LIMIT);
    }

    /** Parses a query parameter that is an integer between 1 and {@code most}. */
    public int countParameter(String name, String text, int most) {
        if (!text.matches("[0-9]{1,9}") || Integer.parseInt(text) < 1 || Integer.parseInt(text) > most)
            throw invalidParameter(name, "This must be an integer between 1 and %d.".formatted(most));
        return Integer.parseInt(text);
    }

    /** Returns a query parameter that must have one of these values. */
    public Optional<String> wordParameter(String name, List<String> words) {
        Optional<String> value = query(name);
        if (value.isPresent() && !words.contains(value.get()))
            throw invalidParameter(
                    name,
                    "This must be one of %s.%s"
                            .formatted(String.join(", ", words), SpellingSuggester.didYouMean(value.get(), words)));
        return value;
    }

    public static Problem invalidParameter(String name, String detail) {
        return Problem.of(400, "invalid-parameter", "Invalid query parameter. The field \"errors\" says where.")
                .withFault(name, detail);
    }

    /** Parses the body, which must be a JSON object, and returns its fields. */
    public JsonFields fields() {
        String type = header("Content-Type").orElse("").toLowerCase(Locale.ROOT);
        if (!type.equals("application/json") && !type.startsWith("application/json;"))
            throw Problem.of(415, "unsupported-media-type", "Content-Type must be application/json.");
        return new JsonFields(Json.parseObject(body), "");
    }

    /** Like {@link #fields}, but accepts an empty body, which has no fields. */
    public JsonFields optionalFields() {
        return body.length == 0 ? new JsonFields(JsonNodeFactory.instance.objectNode(), "") : fields();
    }
}
