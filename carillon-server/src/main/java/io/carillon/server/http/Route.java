package io.carillon.server.http;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * One operation of the API: method, path, required permission, accepted query parameters, maximum length of the body
 * and action. A path consists of literal segments and {@code {name}} segments. A request with any other query
 * parameter, or with a longer body, is rejected. The last segment may be empty: the path then ends with a slash.
 */
public record Route(
        String method,
        String path,
        Permission permission,
        Set<String> queryParameters,
        int maxBodyBytes,
        Action action) {
    /** Large enough for a batch of small payloads, or for one payload of the maximum size with its surrounding JSON. */
    public static final int MAX_BODY_BYTES = 2 * 1024 * 1024;
    /** The default of public routes: their callers are unknown and have no quota. */
    private static final int MAX_PUBLIC_BODY_BYTES = 8 * 1024;

    /** Stands for all query parameters, for a request whose parameters another program decides. */
    public static final String ANY_PARAMETER = "*";

    /**
     * The operations that a read-only server allows, besides reading: they start and end sessions, take access away
     * from a leaked key, compute, or report the result of an attempt that a node executes.
     */
    private static final Set<String> ALLOWED_IF_READ_ONLY = Set.of(
            "POST /v1/session",
            "POST /v1/session:redeem",
            "DELETE /v1/session",
            "DELETE /v1/sessions/{id}",
            "POST /v1/keys:revoke-by-value",
            "POST /v1/schedules:preview",
            "POST /v1/runs/{id}/complete");

    private static final Set<String> METHODS_WITH_BODY = Set.of("PUT", "POST", "PATCH");
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
                || !segments(path.length() > 1 && path.endsWith("/") ? path.substring(0, path.length() - 1) : path)
                        .stream()
                        .allMatch(part ->
                                path.equals("/") || SEGMENT.matcher(part).matches()))
            throw new IllegalArgumentException("invalid route path \"" + path + "\"");
    }

    /** Creates a route with the default length of the body, which is none for GET and DELETE. */
    public Route(String method, String path, Permission permission, Set<String> queryParameters, Action action) {
        this(method, path, permission, queryParameters, defaultBodyBytes(method, permission), action);
    }

    private static int defaultBodyBytes(String method, Permission permission) {
        if (!METHODS_WITH_BODY.contains(method)) return 0;
        return permission == Permission.PUBLIC ? MAX_PUBLIC_BODY_BYTES : MAX_BODY_BYTES;
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
        return new Route(method, path, permission, Set.of(parameters), maxBodyBytes, action);
    }

    /** Returns a copy that accepts a body of up to so many bytes; 0 means that a body is rejected. */
    public Route withMaxBodyBytes(int bytes) {
        return new Route(method, path, permission, queryParameters, bytes, action);
    }

    /** Returns whether a read-only server refuses this operation. */
    boolean isChange() {
        return !method.equals("GET") && !ALLOWED_IF_READ_ONLY.contains(method + " " + path);
    }

    /**
     * Returns the values of the {@code {name}} segments of a route if the parts of a path match them, otherwise empty.
     */
    static Optional<Map<String, String>> match(List<String> mine, List<String> parts) {
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
