package io.carillon.run;

import java.time.Instant;
import java.util.Optional;

/** The view that a handler has of its run. Thread-safe, so that the handler may pass it to threads that it starts. */
public interface RunContext {
    /** Returns the id of the run. */
    RunId id();

    /** Returns the project of the run. A node executes the runs of all projects. */
    String project();

    /** Returns the number of this attempt. It grows with each attempt and is never reused. */
    int attempt();

    /** Returns how many earlier attempts of the run failed. */
    int failures();

    /** Returns the retry and timeout settings that the run has of its own. */
    Run.Policy policy();

    /**
     * Sets how the run is retried if this attempt fails, unless the run has retry settings of its own. Without a call,
     * the settings of the handler apply. The last call wins.
     */
    void retryBy(Retry retry);

    /**
     * Returns the instant that the schedule planned, even if the run starts late; empty for runs without
     * a planned instant.
     */
    Optional<Instant> plannedAt();

    /** Returns when the run was due, by the database clock. */
    Instant dueAt();

    /** Returns the current time of the database clock, which may differ from the clock of this machine. */
    Instant now();

    /** Returns when the engine ends this attempt, by the database clock. */
    Instant deadline();

    /**
     * Returns whether the run was cancelled, timed out, or released to another node. The handler should stop as soon as
     * possible. Its thread is also interrupted.
     */
    boolean isStopRequested();

    /** Reports progress, which is shown while the run executes. */
    void reportProgress(long done, long total);

    /** Appends a line to the log of the run, which is stored with the run. The size is limited. */
    void log(String line);

    /**
     * Records how this attempt delivered its message, as machine-readable text of at most 8,192 characters. The text is
     * stored with the attempt or the run. The last call wins.
     */
    void recordDelivery(String text);

    /**
     * Lets the breaker of the queue count this attempt as a success even if it fails. For a failure that the input of
     * the run causes, while the system that the handler calls works. Without a breaker it has no effect.
     */
    void countAsSuccessForBreaker();

    /**
     * Returns a key that is the same for all attempts: {@code schedule@planned-instant} for ticks, the run id
     * otherwise. Use it to make effects outside the database idempotent.
     */
    String idempotencyKey();
}
