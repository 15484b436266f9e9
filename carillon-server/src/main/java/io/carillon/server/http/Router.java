package io.carillon.server.http;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Finds the route of a call. A literal segment goes before a name; two routes of the same shape are refused. */
public final class Router {
    /** A route and the values in its path. */
    record Found(Route route, Map<String, String> values) {}

    private final List<Route> routes;
    private final Map<Integer, List<Route>> byLength;

    public Router(List<Route> routes) {
        this.routes = List.copyOf(routes);
        Set<String> shapes = new HashSet<>();
        for (Route route : routes)
            if (!shapes.add(route.method() + " " + route.path().replaceAll("\\{[a-z]+}", "{}")))
                throw new IllegalArgumentException("two routes answer to " + route.method() + " " + route.path());
        List<Route> literalFirst = new ArrayList<>(routes);
        literalFirst.sort((one, other) ->
                one.path().replace('{', '~').compareTo(other.path().replace('{', '~')));
        this.byLength = literalFirst.stream()
                .collect(Collectors.groupingBy(
                        route -> Route.segments(route.path()).size()));
    }

    public List<Route> routes() {
        return routes;
    }

    /** The route, or a problem: there is no such path, or not by this method. */
    Found find(String method, List<String> parts) {
        Set<String> allowed = new TreeSet<>();
        for (Route route : byLength.getOrDefault(parts.size(), List.of())) {
            Optional<Map<String, String>> values = route.match(parts);
            if (values.isEmpty()) continue;
            if (route.method().equals(method)) return new Found(route, values.get());
            allowed.add(route.method());
        }
        if (allowed.isEmpty())
            throw Problem.of(
                    404, "no-such-path", "There is nothing at this path. /v1/openapi.json lists what there is.");
        throw Problem.of(
                        405,
                        "method-not-allowed",
                        "This path does not answer to that method. It answers to %s."
                                .formatted(String.join(", ", allowed)))
                .header("Allow", String.join(", ", allowed));
    }
}
