package io.carillon.server.http;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/**
 * An event stream that identifies its caller again every few seconds and ends when the caller is no longer allowed to
 * read it: when the key was revoked, the key, token or session expired, or a scope was taken away.
 */
final class AuthenticatedStream implements ApiResponse.Streaming {
    /**
     * Keys are cached for three seconds, so a stream ends about eight seconds after a revocation at the latest. Each
     * check counts as a request in the quota of the project.
     */
    private static final long CHECK_INTERVAL_NANOS = Duration.ofSeconds(4).toNanos();

    private static final byte[] ENDED =
            ("event: stream.ended\ndata: {\"reason\":\"The key, token or session of this stream is no longer valid.\"}"
                            + "\n\n")
                    .getBytes(StandardCharsets.UTF_8);

    private final ApiResponse.Streaming stream;
    private final Runnable check;
    private long checkedNanos = System.nanoTime();
    private boolean ended;

    /**
     * Creates a stream.
     *
     * @param check throws a problem if the caller is not allowed to read the stream
     */
    AuthenticatedStream(ApiResponse.Streaming stream, Runnable check) {
        this.stream = stream;
        this.check = check;
    }

    @Override
    public String project() {
        return stream.project();
    }

    @Override
    public Optional<byte[]> next() {
        if (ended) return Optional.empty();
        if (System.nanoTime() - checkedNanos >= CHECK_INTERVAL_NANOS && !isAllowed()) {
            ended = true;
            return Optional.of(ENDED);
        }
        return stream.next();
    }

    private boolean isAllowed() {
        checkedNanos = System.nanoTime();
        try {
            check.run();
        } catch (Problem problem) {
            // The authenticator knows the key of a request that exceeds the quota of its project.
            if (problem.code().equals("quota-exceeded")) return true;
            if (problem.status() == 401 || problem.status() == 403) return false;
            throw problem;
        }
        return true;
    }

    @Override
    public void close() {
        stream.close();
    }
}
