package io.carillon.server.http;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * One operation: method, path, what its caller must be allowed, and what it does. A path is literal segments and {@code {names}}; the query parameters it
 * knows are named, and any other is refused. A route cannot be made without a permission.
 */
public record Route(String method, String path, Permission permission, Set<String> query, Action action) {
    private static final Pattern SEGMENT = Pattern.compile("[a-z0-9._:-]+|\\{[a-z]+}");
    private static final Set<String> METHODS = Set.of("GET", "PUT", "POST", "PATCH", "DELETE");

    /** What a route does with a call. */
    @FunctionalInterface
    public interface Action {
        Answer on(Call call);
    }

    public Route {
        query = Set.copyOf(query);
        java.util.Objects.requireNonNull(permission, "permission");
        java.util.Objects.requireNonNull(action, "action");
        if (!METHODS.contains(method)) throw new IllegalArgumentException("no route has the method " + method);
        if (!path.startsWith("/")
                || !segments(path).stream()
                        .allMatch(part -> SEGMENT.matcher(part).matches()))
            throw new IllegalArgumentException("'" + path + "' is no path of a route");
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

    public static Route patch(String path, Permission permission, Action action) {
        return new Route("PATCH", path, permission, Set.of(), action);
    }

    public static Route delete(String path, Permission permission, Action action) {
        return new Route("DELETE", path, permission, Set.of(), action);
    }

    /** The same with the query parameters it knows. */
    public Route with(String... parameters) {
        return new Route(method, path, permission, Set.of(parameters), action);
    }

    /** The values of the names in the path, if this is a path of the route. */
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
