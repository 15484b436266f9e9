package io.carillon.internal.store.run;

import io.carillon.run.Payload;
import io.carillon.run.RunId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The port for the records of workflows: what each step did, written once. */
public interface WorkflowStepStore {
    /** Returns the records of a run. */
    Records load(String project, RunId run);

    /**
     * Writes a record if the attempt still holds its run, and returns it; empty if the lease was lost. A repeated call
     * returns the record of the first one.
     */
    Optional<StepRecord> record(Holder holder, NewStep step);

    /**
     * The records of a run in the order of their positions.
     *
     * @param now the time of the database clock when they were read; the epoch if there are none
     */
    record Records(List<StepRecord> steps, Instant now) {
        public Records {
            steps = List.copyOf(steps);
        }
    }

    /** The attempt that writes a record. Owner and attempt number are the fence. */
    record Holder(String project, RunId run, UUID owner, int attempt) {}

    /**
     * A record to be written.
     *
     * @param value the result of a step; null if it has none, or failed
     * @param error why the step failed finally; null if it succeeded
     * @param sleep how long a sleep lasts, from now by the database clock; null for a step
     */
    record NewStep(
            int position,
            String path,
            @Nullable Payload value,
            @Nullable String error,
            @Nullable Duration sleep) {}

    /**
     * A record.
     *
     * @param failures the failures of the run when the record was written
     * @param until when a sleep ends; null for a step
     */
    record StepRecord(
            int position,
            String path,
            @Nullable Payload value,
            @Nullable String error,
            int failures,
            @Nullable Instant until,
            Instant recordedAt) {}
}
