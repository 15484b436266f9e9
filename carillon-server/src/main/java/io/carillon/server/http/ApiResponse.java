package io.carillon.server.http;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A response: status, headers and a body, or a stream that is written step by step.
 *
 * @param stream writes the response; null if {@code body} is the response
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ApiResponse(
        int status,
        Map<String, String> headers,
        byte[] body,
        @Nullable Streaming stream) {
    /** Between the values of a header that the response has several times. */
    static final String LINE_END = "\n";

    private static final String JSON = "application/json";

    /**
     * Headers of every response. A browser must not guess types, show a response in a frame, load anything that a
     * response names, or tell other sites where it was.
     */
    private static final Map<String, String> SECURITY_HEADERS = Map.of(
            "X-Content-Type-Options",
            "nosniff",
            "Content-Security-Policy",
            "default-src 'none'; frame-ancestors 'none'",
            "X-Frame-Options",
            "DENY",
            "Referrer-Policy",
            "no-referrer",
            "Cross-Origin-Resource-Policy",
            "same-origin",
            "Cache-Control",
            "no-store");

    /** A response that is sent part by part. Its methods are called by one thread at a time. */
    public interface Streaming extends AutoCloseable {
        /** Returns the project of the caller. Parts of streams of the same project are read one after the other. */
        String project();

        /** Returns the next part, about a second after the previous one was sent; empty ends the response. */
        Optional<byte[]> next();

        /** Called once, after the last part or when the client has closed the connection. */
        @Override
        void close();
    }

    public ApiResponse {
        headers = Map.copyOf(headers);
    }

    public static ApiResponse ok(JsonObject body) {
        return json(200, body);
    }

    public static ApiResponse json(int status, JsonObject body) {
        return json(status, Json.bytes(body));
    }

    /** Returns a response whose body is JSON text already. */
    public static ApiResponse json(int status, byte[] body) {
        return new ApiResponse(status, Map.of("Content-Type", JSON), body, null);
    }

    public static ApiResponse noContent() {
        return new ApiResponse(204, Map.of(), new byte[0], null);
    }

    public static ApiResponse text(String type, String body) {
        return new ApiResponse(
                200, Map.of("Content-Type", type), body.getBytes(java.nio.charset.StandardCharsets.UTF_8), null);
    }

    public static ApiResponse stream(String type, Streaming stream) {
        return new ApiResponse(200, Map.of("Content-Type", type), new byte[0], stream);
    }

    public ApiResponse withHeader(String name, String value) {
        return withHeaders(Map.of(name, value));
    }

    /** Returns a copy that sets these cookies. A header has one line for each. */
    public ApiResponse withCookies(List<String> cookies) {
        return withHeader("Set-Cookie", String.join(LINE_END, cookies));
    }

    /** Returns a copy with these headers, which replace those of the same name. */
    ApiResponse withHeaders(Map<String, String> added) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.putAll(added);
        return new ApiResponse(status, more, body, stream);
    }

    /** Returns a copy with the headers that protect browsers, unless the route has set them. */
    ApiResponse withSecurityHeaders() {
        Map<String, String> more = new LinkedHashMap<>(SECURITY_HEADERS);
        more.putAll(headers);
        return new ApiResponse(status, more, body, stream);
    }

    /** Returns a copy with another stream. */
    ApiResponse withStream(Streaming other) {
        return new ApiResponse(status, headers, body, other);
    }

    /** Returns a copy with the version of the resource as {@code ETag}, for use in {@code If-Match}. */
    public ApiResponse withVersion(long version) {
        return withHeader("ETag", EntityTags.tag(version));
    }

    /** Returns a copy with the path of the resource that the request created. */
    public ApiResponse withLocation(String path) {
        return withHeader("Location", path);
    }

    /** Returns the response to a request whose client has this representation already. */
    ApiResponse notModified() {
        Map<String, String> kept = new LinkedHashMap<>(headers);
        kept.remove("Content-Type");
        return new ApiResponse(304, kept, new byte[0], null);
    }

    boolean isJson() {
        return stream == null && JSON.equals(headers.get("Content-Type"));
    }

    ApiResponse withMediaType(String mediaType) {
        return withHeader("Content-Type", mediaType);
    }
}
