package io.carillon.server.http;

import io.carillon.internal.value.TextCleaner;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Finds the route of a request. A literal segment is preferred to a {@code {name}} segment. Two routes of the same
 * method that match the same paths are rejected.
 */
public final class Router {
    /** A route and the values of the {@code {name}} segments of its path. */
    record RouteMatch(Route route, Map<String, String> pathValues) {}

    private final List<Route> routes;
    private final Map<Integer, List<SplitRoute>> byLength;

    /** A route with the segments of its path, which are needed for each request. */
    private record SplitRoute(Route route, List<String> segments) {}

    public Router(List<Route> routes) {
        this.routes = List.copyOf(routes);
        Set<String> patterns = new HashSet<>();
        for (Route route : routes)
            if (!patterns.add(route.method() + " " + route.path().replaceAll("\\{[a-z]+}", "{}")))
                throw new IllegalArgumentException(
                        "two routes match the same requests: " + route.method() + " " + route.path());
        List<Route> literalFirst = new ArrayList<>(routes);
        literalFirst.sort((one, other) ->
                one.path().replace('{', '~').compareTo(other.path().replace('{', '~')));
        this.byLength = literalFirst.stream()
                .map(route -> new SplitRoute(route, Route.segments(route.path())))
                .collect(Collectors.groupingBy(split -> split.segments().size()));
    }

    public List<Route> routes() {
        return routes;
    }

    /** Returns the route of a request; throws a problem if no route has this path, or none with this method. */
    RouteMatch find(String method, List<String> parts) {
        Set<String> allowed = new TreeSet<>();
        for (SplitRoute split : byLength.getOrDefault(parts.size(), List.of())) {
            Route route = split.route();
            Optional<Map<String, String>> values = Route.match(split.segments(), parts);
            if (values.isEmpty()) continue;
            if (route.method().equals(method)) return new RouteMatch(route, values.get());
            allowed.add(route.method());
        }
        if (allowed.isEmpty())
            throw Problem.of(
                    404, "no-such-path", "This path does not exist. GET /v1/openapi.json lists all operations.");
        throw Problem.of(
                        405,
                        "method-not-allowed",
                        "This path does not support the method of the request. Allowed: %s."
                                .formatted(String.join(", ", allowed)))
                .withHeader("Allow", String.join(", ", allowed));
    }

    /** Decodes a part of a path or query. */
    static String decode(String text, boolean path) {
        try {
            String plain = URLDecoder.decode(path ? text.replace("+", "%2B") : text, StandardCharsets.UTF_8);
            if (TextCleaner.isClean(plain)) return plain;
        } catch (IllegalArgumentException malformed) {
            // The exception below says so.
        }
        throw Problem.of(400, "malformed-url", "The path or query is not well-formed. Percent-encode it as UTF-8.");
    }
}
