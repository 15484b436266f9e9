package io.carillon.engine;

import io.carillon.run.Lane;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/** In a crowd only a few hear of new work. Whoever finds more of it than it can take calls for others, who do the same: a backlog reaches all nodes in a moment. */
final class Recruiter {
    private static final long EVERY_NANOS = 1_000_000_000L;

    private final Crowd crowd;
    private final Announcer announcer;
    private final AtomicLong last = new AtomicLong(System.nanoTime() - EVERY_NANOS);

    Recruiter(Crowd crowd, Announcer announcer) {
        this.crowd = crowd;
        this.announcer = announcer;
    }

    /** This lane has more than this node can take now. */
    void more(Lane lane) {
        if (!crowd.large()) return;
        long now = System.nanoTime();
        long before = last.get();
        if (now - before >= EVERY_NANOS && last.compareAndSet(before, now)) announcer.work(lane, Instant.EPOCH);
    }
}
