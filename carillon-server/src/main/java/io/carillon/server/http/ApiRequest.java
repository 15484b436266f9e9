package io.carillon.server.http;

import io.carillon.internal.value.Names;
import io.carillon.internal.value.SpellingSuggester;
import io.carillon.internal.value.TextCleaner;
import io.carillon.server.share.RecentValues;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;

/** One request with its caller, path values, query parameters, headers and body. */
public final class ApiRequest {
    private static final int DEFAULT_LIMIT = 50;
    private static final int MAX_LIMIT = 200;

    private static final Pattern MAX_AGE = Pattern.compile("(?:^|[ ,])max-age=([0-9]{1,2})(?:$|[ ,])");
    /** The operations whose answer depends on nothing but the project, the scopes and the query. */
    private static final Set<String> SHAREABLE =
            Set.of("/v1/health", "/v1/nodes", "/v1/queues", "/v1/runs", "/v1/schedules", "/v1/stats");

    private final Head head;
    private final byte[] body;
    private final Caller caller;
    private final LongConsumer memory;
    private final Turn turn;

    /** A request without its body. */
    record Head(
            Route route,
            Map<String, String> pathValues,
            Map<String, List<String>> query,
            Map<String, String> headers,
            String requestId,
            String remoteAddress) {}

    /** The turn of a request among those of its project. Only the thread that executes the request uses it. */
    public static final class Turn {
        private Supplier<RequestPermits.Permit> source = () -> () -> {};
        private RequestPermits.@Nullable Permit held;

        /** Waits for a turn. {@link #take} takes further ones from the same source. */
        void takeFrom(Supplier<RequestPermits.Permit> turns) {
            source = turns;
            take();
        }

        /**
         * Waits for a turn again; does nothing if the request has one.
         *
         * @throws Problem with status 503 after a time limit
         */
        public void take() {
            if (held == null) held = source.get();
        }

        /** Lets the next request of the project execute; does nothing if the request has no turn. */
        public void end() {
            RequestPermits.Permit permit = held;
            held = null;
            if (permit != null) permit.release();
        }
    }

    ApiRequest(Head head, byte[] body, Caller caller) {
        this(head, body, caller, bytes -> {});
    }

    /**
     * Creates a request.
     *
     * @param memory reserves so many bytes until the response was sent
     */
    ApiRequest(Head head, byte[] body, Caller caller, LongConsumer memory) {
        this(head, body, caller, memory, new Turn());
    }

    private ApiRequest(Head head, byte[] body, Caller caller, LongConsumer memory, Turn turn) {
        this.head = head;
        this.body = body;
        this.caller = caller;
        this.memory = memory;
        this.turn = turn;
    }

    /**
     * Reserves memory for a large response, before it is built, until it was sent. Throws a problem with status 503 if
     * the requests of the project use as much as they may.
     */
    public void reserveMemory(long bytes) {
        memory.accept(bytes);
    }

    /** Like {@link #reserveMemory}, for JSON that the response contains. */
    public void reserveMemoryForJson(byte[] json) {
        memory.accept(2L * json.length + Json.treeBytes(json));
    }

    /** Returns a copy with another value of a header. */
    public ApiRequest withHeader(String name, String value) {
        Map<String, String> headers = new HashMap<>(head.headers());
        headers.put(name.toLowerCase(Locale.ROOT), value);
        return new ApiRequest(
                new Head(
                        head.route(), head.pathValues(), head.query(), headers, head.requestId(), head.remoteAddress()),
                body,
                caller,
                memory,
                turn);
    }

    /** Returns a copy with another caller. */
    public ApiRequest withCaller(Caller identified) {
        return new ApiRequest(head, body, identified, memory, turn);
    }

    public Caller caller() {
        return caller;
    }

    /**
     * Returns the turn of this request. An action ends it before it waits for something that is limited in another way,
     * and may take it again.
     */
    public Turn turn() {
        return turn;
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

    /** What the answers that several callers may receive depend on. */
    record SharedKey(String project, Set<String> scopes, String resource) {}

    /** An answer that other callers receive too, if it is not older than this. */
    record Sharing(SharedKey key, Duration maxAge) {}

    /**
     * Returns how old an answer may be that another caller of the project with the same scopes received: open pages of
     * the dashboard read the same again and again, and say so with {@code Cache-Control: max-age}. Empty if the request
     * needs an answer of its own.
     */
    Optional<Sharing> sharing() {
        if (!head.route().method().equals("GET")
                || !SHAREABLE.contains(head.route().path())
                || caller.limits().isRestricted()) return Optional.empty();
        return header("Cache-Control")
                .map(MAX_AGE::matcher)
                .filter(Matcher::find)
                .map(found -> Duration.ofSeconds(Long.parseLong(found.group(1))))
                .filter(age -> !age.isZero())
                .map(age -> new Sharing(
                        new SharedKey(
                                caller.project(), caller.scopes(), requestedPath() + " " + new TreeMap<>(head.query())),
                        age.compareTo(RecentValues.MAX_AGE) < 0 ? age : RecentValues.MAX_AGE));
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
            throw Problem.of(
                    415,
                    "unsupported-media-type",
                    "Content-Type must be application/json (was %s)."
                            .formatted(type.isEmpty() ? "not given" : TextCleaner.clean(type, 100)));
        return new JsonFields(Json.parseObject(body), "");
    }

    /** Like {@link #fields}, but accepts an empty body, which has no fields. */
    public JsonFields optionalFields() {
        return body.length == 0 ? new JsonFields(JsonNodeFactory.instance.objectNode(), "") : fields();
    }
}
