package io.carillon.server.stream;

import io.carillon.server.http.Problem;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** How many streams this server sends: to all clients together, and to those of one project. Thread-safe. */
public final class StreamPermits {
    private static final int MAX_STREAMS = 400;

    private final Semaphore all = new Semaphore(MAX_STREAMS);
    private final Map<String, Integer> perProject = new ConcurrentHashMap<>();

    /**
     * Counts a stream of a project. {@link #release} must follow.
     *
     * @param most the quota of the project; null if it has none
     * @param exceeded returns the problem if the project has as many streams as it may have
     */
    public void acquire(String project, @Nullable Integer most, IntFunction<Problem> exceeded) {
        if (!all.tryAcquire())
            throw Problem.of(
                            503, "unavailable", "This server has its maximum number of event streams. Try again later.")
                    .withHeader("Retry-After", "30");
        int mine = Objects.requireNonNull(perProject.merge(project, 1, Integer::sum));
        if (most == null || mine <= most) return;
        release(project);
        throw exceeded.apply(most);
    }

    /** Ends a stream of a project. */
    public void release(String project) {
        all.release();
        perProject.computeIfPresent(project, (name, streams) -> streams == 1 ? null : streams - 1);
    }
}
