package io.carillon.server.http;

import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What goes out: status, headers and a body, or a stream that is written while it happens. */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Answer(
        int status,
        Map<String, String> headers,
        byte[] body,
        @Nullable Streaming stream) {
    private static final String JSON = "application/json";

    /** Writes as long as there is something to tell; an exception means that nobody listens any more. */
    @FunctionalInterface
    public interface Streaming {
        void to(OutputStream out) throws IOException;
    }

    public Answer {
        headers = Map.copyOf(headers);
    }

    public static Answer ok(Doc body) {
        return json(200, body);
    }

    public static Answer json(int status, Doc body) {
        return json(status, Json.bytes(body));
    }

    /** JSON that is written already. */
    public static Answer json(int status, byte[] body) {
        return new Answer(status, Map.of("Content-Type", JSON), body, null);
    }

    public static Answer none() {
        return new Answer(204, Map.of(), new byte[0], null);
    }

    public static Answer text(String type, String body) {
        return new Answer(
                200, Map.of("Content-Type", type), body.getBytes(java.nio.charset.StandardCharsets.UTF_8), null);
    }

    public static Answer stream(String type, Streaming stream) {
        return new Answer(200, Map.of("Content-Type", type), new byte[0], stream);
    }

    public Answer header(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new Answer(status, more, body, stream);
    }

    /** The same with the version of what it shows, for {@code If-Match}. */
    public Answer version(long version) {
        return header("ETag", Versions.tag(version));
    }

    Answer as(String mediaType) {
        return header("Content-Type", mediaType);
    }
}
