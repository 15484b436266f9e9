package io.carillon.internal.store.run;

import io.carillon.run.Payload;
import io.carillon.run.RunId;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
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
     * Like {@link #record} for several steps of a run, which are committed together: returns their records in the same
     * order, or an empty list if the lease was lost.
     */
    List<StepRecord> recordAll(Holder holder, List<NewStep> steps);

    /**
     * Like {@link #record}, in the transaction that is open on this connection. The caller commits it. The run stays
     * locked until then.
     */
    Optional<StepRecord> recordIn(Connection transaction, Holder holder, NewStep step);

    /**
     * Writes the answer to an await, if there is one and the attempt still holds its run, and returns it: the value of
     * the first pending signal of this name, which is then taken, or the time-out if the limit is over. A repeated call
     * returns the answer of the first one.
     */
    Optional<StepRecord> answer(Holder holder, NewAnswer answer);

    /** Like {@link #record} for a step of the kind {@link StepKind#AWAIT_RUN}, and stores that the run waits. */
    Optional<StepRecord> recordRunWait(Holder holder, NewStep step, RunId awaited);

    /**
     * Writes the answer to the wait for a run, if that run has ended and the attempt still holds its own, and returns
     * it: the result of the run, or as error how it ended. A dead run has ended; of a redriven run, the new run counts.
     */
    Optional<StepRecord> answerRun(Holder holder, int position, String path, RunId awaited);

    /** What a record says. */
    enum StepKind {
        STEP,
        /** Steps are executed in parallel. Each of the next records is one of them. The value has their keys. */
        EACH,
        SLEEP,
        /** A workflow waits for a signal. The next record is the answer. */
        AWAIT,
        /** The answer to an await: the value of a signal. */
        SIGNAL,
        /** The answer to an await: the time is over. */
        TIMEOUT,
        /** A workflow waits for the end of a run. The next record is the answer. */
        AWAIT_RUN,
        /** The answer to a wait for a run. */
        RUN_ENDED,
        /** The next step can be undone. */
        UNDO,
        /** The workflow begins to undo its steps. No further step starts. */
        COMPENSATE,
        /** A step was undone, or could not be undone. */
        UNDONE,
        /** Which version of a change the workflow follows. */
        VERSION;

        /** Returns the stored form. */
        public String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        /** Returns the kind with this stored form. */
        public static StepKind of(String text) {
            return valueOf(text.toUpperCase(Locale.ROOT).replace('-', '_'));
        }
    }

    /**
     * An answer to be written.
     *
     * @param position that of the await plus one
     * @param path that of the await
     * @param signal the name of the signal
     */
    record NewAnswer(int position, String path, String signal) {}

    /**
     * The records of a run in the order of their positions.
     *
     * @param now the time of the database clock when they were read; the epoch if there are none
     * @param cancelReason why the workflow is to be cancelled; null if it is not, or has no records
     */
    record Records(
            List<StepRecord> steps, Instant now, @Nullable String cancelReason) {
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
     * @param sleep how long a sleep or an await lasts, from now by the database clock; null for a step
     * @param reserved how many positions behind this one belong to a record of the kind {@link StepKind#EACH}; null
     *     for others
     */
    record NewStep(
            StepKind kind,
            int position,
            String path,
            @Nullable Payload value,
            @Nullable String error,
            @Nullable Duration sleep,
            @Nullable Integer reserved) {
        /** Creates a record that reserves no positions. */
        public NewStep(
                StepKind kind,
                int position,
                String path,
                @Nullable Payload value,
                @Nullable String error,
                @Nullable Duration sleep) {
            this(kind, position, path, value, error, sleep, null);
        }

        /** Creates the record of a step, or of a sleep if it has a duration. */
        public NewStep(
                int position, String path, @Nullable Payload value, @Nullable String error, @Nullable Duration sleep) {
            this(sleep == null ? StepKind.STEP : StepKind.SLEEP, position, path, value, error, sleep);
        }
    }

    /**
     * A record.
     *
     * @param failures the failures of the run when the record was written
     * @param until when a sleep ends, or the time limit of an await; null for others
     */
    record StepRecord(
            StepKind kind,
            int position,
            String path,
            @Nullable Payload value,
            @Nullable String error,
            int failures,
            @Nullable Instant until,
            Instant recordedAt) {}
}
