package io.carillon.run;

import java.time.Instant;
import java.util.Optional;

/** What a handler knows of its run, and what it may tell meanwhile. Safe to use from threads the handler starts. */
public interface RunContext {
    RunId id();

    /** The project it belongs to: one node executes the runs of all. */
    String project();

    /** The number of this attempt; grows with each, and is never reused. */
    int attempt();

    /** How often the run failed before. */
    int failures();

    /** The instant the schedule planned; empty for runs that were enqueued. It is never "now", however late the run starts. */
    Optional<Instant> plannedAt();

    Instant dueAt();

    /** The time on the database's clock, whatever this machine's shows. */
    Instant now();

    /** When the engine will end this attempt, on the database's clock. */
    Instant deadline();

    /** Whether the run was cancelled, timed out or lost to another node: stop as soon as you can. The thread is interrupted too. */
    boolean cancelled();

    /** How far the work has come; shown while it runs. */
    void progress(long done, long total);

    /** Adds a line to the run's own log, which is kept with it (bounded). */
    void log(String line);

    /**
     * Says how this attempt delivered what it had to deliver: a text for programs, at most 8 Ki characters, kept beside the log with the attempt or the run.
     * The last call counts.
     */
    void delivery(String text);

    /** Stable over attempts: {@code schedule@planned-instant} for ticks, the run's id otherwise. Use it to make effects outside the database idempotent. */
    String idempotencyKey();
}
