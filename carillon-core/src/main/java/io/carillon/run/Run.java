package io.carillon.run;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The current or final state of a run.
 *
 * @param attempt the number of the latest attempt; 0 if the run has not started
 * @param failures failed and timed-out attempts; they count toward the retry limit
 * @param crashes how many nodes died while they executed the run in isolation
 */
public record Run(
        RunId id,
        String project,
        String queue,
        RunState state,
        Priority priority,
        Origin origin,
        Target target,
        int attempt,
        int failures,
        int crashes,
        Instants instants,
        Details details) {

    /**
     * The times of the run, by the database clock.
     *
     * @param plannedAt the planned instant; null unless the run is a tick or a backfill
     * @param startedAt when the latest attempt started; null if the run has not started
     * @param endedAt when the run ended; null if it has not ended
     */
    public record Instants(
            Instant createdAt,
            Instant dueAt,
            @Nullable Instant plannedAt,
            @Nullable Instant startedAt,
            @Nullable Instant endedAt) {}

    /**
     * Returns how late the latest attempt started, relative to the planned instant of a tick or the due time of another
     * run; empty if the run has not started.
     */
    public Optional<Duration> lateness() {
        Instant started = instants.startedAt();
        if (started == null) return Optional.empty();
        Instant planned = instants.plannedAt();
        Instant expected = planned == null || origin != Origin.TICK ? instants.dueAt() : planned;
        return Optional.of(started.isBefore(expected) ? Duration.ZERO : Duration.between(expected, started));
    }

    /**
     * Further data of the run. Each component is null if the run has no such value.
     *
     * @param parent the dead run from which this run was redriven
     * @param parked why the run is not claimable
     * @param reason the error, or the reason why the run was cancelled, skipped or missed
     * @param delivery the text of {@link RunContext#recordDelivery}
     */
    public record Details(
            @Nullable UUID schedule,
            @Nullable RunId parent,
            @Nullable String uniqueKey,
            @Nullable String parked,
            @Nullable String reason,
            @Nullable Payload result,
            @Nullable String log,
            @Nullable String delivery,
            @Nullable Progress progress) {}
}
