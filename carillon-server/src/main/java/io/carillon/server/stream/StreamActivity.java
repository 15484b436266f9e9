package io.carillon.server.stream;

import io.carillon.server.store.StreamEventRepository.RecentActivity;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Which projects have new events. One question to the database per second serves all streams of this server: the events
 * of a project are read only if it has some. Thread-safe.
 */
public final class StreamActivity {
    private static final long INTERVAL_NANOS = Duration.ofMillis(900).toNanos();

    /** Longer than the overlap of the streams and the interval together, so that no event falls between two answers. */
    private static final Duration WINDOW = ProjectEventStream.OVERLAP.plusSeconds(3);

    private final Supplier<Set<String>> watched;
    private final BiFunction<Set<String>, Duration, RecentActivity> read;
    private Set<String> asked = Set.of();
    private @Nullable RecentActivity answer;
    private long askedNanos;

    /**
     * Creates the shared answer.
     *
     * @param watched returns the projects that have streams
     * @param read returns which of these projects had events in the last period of this length
     */
    public StreamActivity(Supplier<Set<String>> watched, BiFunction<Set<String>, Duration, RecentActivity> read) {
        this.watched = watched;
        this.read = read;
    }

    /** Returns the database time of the last answer. */
    public synchronized Instant now() {
        return current().now();
    }

    /** Returns whether a project may have events after an instant; false only if it has none. */
    public synchronized boolean mayHaveEvents(String project, Instant after) {
        RecentActivity current = current();
        return !asked.contains(project)
                || current.projects().contains(project)
                || after.isBefore(current.now().minus(WINDOW));
    }

    private RecentActivity current() {
        RecentActivity known = answer;
        long now = System.nanoTime();
        if (known != null && now - askedNanos < INTERVAL_NANOS) return known;
        Set<String> projects = Set.copyOf(watched.get());
        RecentActivity fresh = read.apply(projects, WINDOW);
        asked = projects;
        answer = fresh;
        askedNanos = now;
        return fresh;
    }
}
