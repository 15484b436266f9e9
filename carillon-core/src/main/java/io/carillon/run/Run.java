package io.carillon.run;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
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
     * @param readyAt when the next attempt of a waiting run may start; null if the run does not wait, or if it is
     *     parked until something else happens
     * @param plannedAt the planned instant; null unless the run is a tick or a backfill
     * @param startedAt when the latest attempt started; null if the run has not started
     * @param endedAt when the run ended; null if it has not ended
     * @param firstStartedAt when the first attempt started; null if the run has not started
     */
    public record Instants(
            Instant createdAt,
            Instant dueAt,
            @Nullable Instant readyAt,
            @Nullable Instant plannedAt,
            @Nullable Instant startedAt,
            @Nullable Instant endedAt,
            @Nullable Instant firstStartedAt) {}

    /**
     * Returns how late the first attempt started, relative to the planned instant of a tick or the due time of another
     * run; empty if the run has not started. Retries do not make a run later.
     */
    public Optional<Duration> lateness() {
        Instant started = instants.firstStartedAt();
        if (started == null) return Optional.empty();
        Instant planned = instants.plannedAt();
        Instant expected = planned == null || origin != Origin.TICK ? instants.dueAt() : planned;
        return Optional.of(started.isBefore(expected) ? Duration.ZERO : Duration.between(expected, started));
    }

    /**
     * How the attempts of a run are executed, as far as the run, or the schedule that creates it, has settings of its
     * own. They win over those of the endpoint that the run calls, and over those of the handler.
     *
     * @param retry how often and after which delays a failed run is retried; null if the run has no such setting
     * @param timeout how long one attempt may take, from 1 ms to 30 days; null if the run has no such setting
     */
    public record Policy(@Nullable Retry retry, @Nullable Duration timeout) {
        private static final Duration MIN_TIMEOUT = Duration.ofMillis(1);
        private static final Duration MAX_TIMEOUT = Duration.ofDays(30);
        private static final Policy NONE = new Policy(null, null);

        public Policy {
            if (timeout != null && (timeout.compareTo(MIN_TIMEOUT) < 0 || timeout.compareTo(MAX_TIMEOUT) > 0))
                throw new CarillonException(
                        ErrorCode.INVALID_OPTION,
                        "timeout must be between 1 ms and 30 days (was %s).".formatted(timeout));
        }

        /** Returns a policy without settings. */
        public static Policy none() {
            return NONE;
        }

        /** Returns whether there are no settings. */
        public boolean isNone() {
            return retry == null && timeout == null;
        }

        /** Returns a copy with these retries. */
        public Policy withRetry(@Nullable Retry newRetry) {
            return new Policy(newRetry, timeout);
        }

        /** Returns a copy with this timeout. */
        public Policy withTimeout(@Nullable Duration newTimeout) {
            return new Policy(retry, newTimeout);
        }
    }

    /**
     * Further data of the run. Each component except {@code policy} is null if the run has no such value.
     *
     * @param policy the retry and timeout settings that the run has of its own
     * @param parent the dead run from which this run was redriven, or the workflow that started it as its child
     * @param parked why the run is not claimable
     * @param lastError the first line of the error of the latest failed attempt, while the run has not ended
     * @param reason the error, or the reason why the run was cancelled, skipped or missed
     * @param delivery the text of {@link RunContext#recordDelivery}
     */
    public record Details(
            Policy policy,
            @Nullable UUID schedule,
            @Nullable RunId parent,
            @Nullable String uniqueKey,
            @Nullable String parked,
            @Nullable String lastError,
            @Nullable String reason,
            @Nullable Payload result,
            @Nullable String log,
            @Nullable String delivery,
            @Nullable Progress progress) {}
}
