package io.carillon.workflow;

import io.carillon.run.RunId;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the code of a workflow calls. Each call that waits or executes something has a position in the code and a
 * record; if the record exists, the call returns it. Only the thread of the workflow may call these methods,
 * and not inside a step. Calls end the execution by an {@link Error} if the workflow has to wait, so the code must not
 * catch {@link Throwable}.
 */
public interface Flow {
    /**
     * Executes a step, unless it is recorded, and returns its result. If the step throws, it is tried again as its
     * retry settings say; the workflow holds no thread meanwhile. A step may be executed again although it did its
     * work, if its node dies before the record is written: {@link StepContext#idempotencyKey()} makes effects
     * idempotent.
     *
     * @throws StepFailedException if the last try failed. The workflow may catch it and continue.
     */
    <T> @Nullable T run(Step<T> step, StepCode<T> code);

    /**
     * Like {@link #run(Step, StepCode)}, for a step that can be undone. The undo is registered before the step is
     * executed. If the workflow fails finally or is cancelled, the registered undos are executed, the last one first,
     * each with the retry settings of its step, and recorded. Then the workflow ends. If an undo fails finally, the
     * workflow is dead, and the earlier steps are not undone.
     *
     * @param undo also called if the step failed or if it is unknown whether it was executed
     */
    <T> @Nullable T run(Step<T> step, StepCode<T> code, UndoCode<T> undo);

    /**
     * Like {@link #run(Step, StepCode)}, for a step whose writes on the given connection commit together with its
     * record, so that they happen exactly once. The connection is one of the data source of the application. An attempt
     * that lost its run rolls back. The code must not commit or roll back the connection.
     */
    <T> @Nullable T runInTransaction(Step<T> step, TransactionCode<T> code);

    /**
     * Executes a step for each item of a list, in parallel, and returns the results in the order of the list. Each item
     * is recorded once, with its key, so only the missing ones are executed again after a failure or a crash. If the
     * step throws for some items, they are tried again together, as the retry settings of the step say. The list of
     * keys is recorded first: in each later execution, the list must have the same items.
     *
     * @param step a step without a key; each item gets its own
     * @param key returns the key of an item, which no other item has
     * @throws StepFailedException if the last try of an item failed, when all items that were being executed have
     *     ended. Items that were not begun are not executed then. The workflow may catch it and continue.
     */
    <I, T> List<T> each(Step<T> step, List<I> items, Function<? super I, String> key, ItemCode<I, T> code);

    /** Like {@link #each(Step, List, Function, ItemCode)}, for a step that can be undone, item by item. */
    <I, T> List<T> each(
            Step<T> step, List<I> items, Function<? super I, String> key, ItemCode<I, T> code, ItemUndoCode<I, T> undo);

    /**
     * Executes different steps in parallel, and returns their results in the order of the list. Otherwise like
     * {@link #each(Step, List, Function, ItemCode)}: the steps are tried again together, after the longest of their
     * delays.
     *
     * @param name names this call; each call of a workflow has another name
     */
    <T> List<T> parallel(String name, List<? extends Branch<? extends T>> branches);

    /**
     * Waits, without a thread or a connection. The end of the sleep is recorded when it begins, by the database clock.
     *
     * @param name names the sleep; each sleep of a workflow has another name
     * @param duration between 0 and 100 years
     */
    void sleep(String name, Duration duration);

    /**
     * Waits for a signal, without a thread or a connection, and returns its value. Returns the first signal of this
     * name that no earlier call has returned, also if it was sent before this call. The time limit is recorded when the
     * wait begins, by the database clock. Once the time-out is recorded, a signal that arrives later stays for the next
     * call.
     *
     * @param timeout between 0 and 100 years
     * @return empty if the time is over and there is no signal
     */
    <T> Optional<T> await(Signal<T> signal, Duration timeout);

    /**
     * Waits for the end of a run of the same project, without a thread or a connection, and returns its result. A step
     * returns the run: it enqueues the run with a unique key, or it starts a workflow with an id, so that a second
     * execution of the step finds the same run. A dead run has ended; of a run that was redriven, the new run counts.
     *
     * @throws StepFailedException if the run did not succeed, or does not exist. The workflow may catch it and
     *     continue.
     */
    <T> @Nullable T awaitRun(RunId run, Class<T> resultType);

    /**
     * Returns which version of a change of the code this workflow follows, so that the code may differ for workflows
     * that are under way: {@code max} if the workflow reaches this call for the first time, and the same in each later
     * execution; {@code min} if it was executed beyond this call before the change.
     *
     * @param change names the change
     * @param min the first version that the code still supports, at least 0
     * @param max the current version
     */
    int version(String change, int min, int max);

    /** Returns the time of the last record, or the due time of the run before the first one. The same on replay. */
    Instant now();

    /** Returns a random number from 0 to 1 that is derived from the run and does not change on replay. */
    double random();

    /** Returns a random id that is derived from the run and does not change on replay. */
    UUID uuid();

    /** Returns the id of the run of the workflow. */
    RunId id();

    /** Returns the project of the run. */
    String project();

    /** The code of a step. */
    @FunctionalInterface
    interface StepCode<T> {
        /** Executes the step. The result, if not null, is recorded. */
        @Nullable
        T run(StepContext step) throws Exception;
    }

    /** The code of a step that writes in a transaction. */
    @FunctionalInterface
    interface TransactionCode<T> {
        /** Executes the step. The result, if not null, is recorded, and the transaction is committed with it. */
        @Nullable
        T run(Connection connection, StepContext step) throws Exception;
    }

    /** The code that undoes a step. */
    @FunctionalInterface
    interface UndoCode<T> {
        /**
         * Undoes a step. It may be called again after it did its work, if its node dies before that is recorded.
         *
         * @param result the result of the step; null if it has none, or is not recorded
         */
        void undo(@Nullable T result, StepContext step) throws Exception;
    }

    /** The code of a step that is executed for each item of a list. Several threads call it at the same time. */
    @FunctionalInterface
    interface ItemCode<I, T> {
        /** Executes the step for an item. The result, if not null, is recorded. */
        @Nullable
        T run(I item, StepContext step) throws Exception;
    }

    /** The code that undoes a step for an item. */
    @FunctionalInterface
    interface ItemUndoCode<I, T> {
        /** Like {@link UndoCode#undo}, for an item. */
        void undo(I item, @Nullable T result, StepContext step) throws Exception;
    }

    /** What the code of a step sees. */
    interface StepContext {
        /** Returns a key that is the same for each try of this step. */
        String idempotencyKey();

        /** Returns how many tries of this step failed before this one. */
        int failures();

        /** Returns whether the workflow was cancelled or is being stopped. The step should end soon. */
        boolean isStopRequested();
    }
}
