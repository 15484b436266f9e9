package io.carillon.server.http;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * One operation of the API: method, path, required permission, accepted query parameters and action. A path consists of
 * literal segments and {@code {name}} segments. A request with any other query parameter is rejected.
 */
public record Route(String method, String path, Permission permission, Set<String> queryParameters, Action action) {
    private static final Pattern SEGMENT = Pattern.compile("[a-z0-9._:-]+|\\{[a-z]+}");
    private static final Set<String> METHODS = Set.of("GET", "PUT", "POST", "PATCH", "DELETE");

    /** The code that handles a request of a route. */
    @FunctionalInterface
    public interface Action {
        ApiResponse handle(ApiRequest apiRequest);
    }

    public Route {
        queryParameters = Set.copyOf(queryParameters);
        java.util.Objects.requireNonNull(permission, "permission");
        java.util.Objects.requireNonNull(action, "action");
        if (!METHODS.contains(method))
            throw new IllegalArgumentException("method must be one of " + METHODS + " (was " + method + ")");
        if (!path.startsWith("/")
                || !segments(path).stream()
                        .allMatch(part -> SEGMENT.matcher(part).matches()))
            throw new IllegalArgumentException("invalid route path \"" + path + "\"");
    }

    public static Route get(String path, Permission permission, Action action) {
        return new Route("GET", path, permission, Set.of(), action);
    }

    public static Route put(String path, Permission permission, Action action) {
        return new Route("PUT", path, permission, Set.of(), action);
    }

    public static Route post(String path, Permission permission, Action action) {
        return new Route("POST", path, permission, Set.of(), action);
    }

    public static Route delete(String path, Permission permission, Action action) {
        return new Route("DELETE", path, permission, Set.of(), action);
    }

    /** Returns a copy that accepts these query parameters. */
    public Route withQuery(String... parameters) {
        return new Route(method, path, permission, Set.of(parameters), action);
    }

    /** Returns the values of the {@code {name}} segments if the path matches this route, otherwise empty. */
    Optional<Map<String, String>> match(List<String> parts) {
        List<String> mine = segments(path);
        if (mine.size() != parts.size()) return Optional.empty();
        Map<String, String> values = new TreeMap<>();
        for (int i = 0; i < mine.size(); i++) {
            String segment = mine.get(i);
            if (segment.startsWith("{")) values.put(segment.substring(1, segment.length() - 1), parts.get(i));
            else if (!segment.equals(parts.get(i))) return Optional.empty();
        }
        return Optional.of(values);
    }

    static List<String> segments(String path) {
        return List.of(path.substring(1).split("/", -1));
    }
}
