package io.carillon.internal.api.workflow;

import static java.util.Objects.requireNonNull;

import io.carillon.HandlerOptions;
import io.carillon.internal.api.Handlers;
import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.engine.loop.Threads;
import io.carillon.internal.run.RetryRule;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.WorkflowStepStore;
import io.carillon.run.Outcome;
import io.carillon.run.RunContext;
import io.carillon.spi.PayloadCodec;
import io.carillon.workflow.StepFailedException;
import io.carillon.workflow.Workflow;
import java.sql.Connection;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** The handlers that execute workflows. */
public final class WorkflowHandlers {
    private @Nullable WorkflowStepStore store;
    private @Nullable PayloadCodec codec;
    private @Nullable StepThreads stepThreads;

    /** The threads that execute steps beside those of the workflows, and how many there are at most. */
    record StepThreads(Executor executor, int max) {}

    /** From now on, the handlers use this storage and this codec, and execute so many steps beside the runs. */
    public void useStorage(Storage storage, PayloadCodec payloadCodec, int maxStepThreads) {
        store = storage.workflowSteps();
        codec = payloadCodec;
        stepThreads = new StepThreads(Threads.stepPool(maxStepThreads), maxStepThreads);
    }

    /** Returns the handler that executes a workflow up to its end or its next wait. */
    public <T, R> Handlers.HandlerCode<T> handler(Workflow<T, R> workflow, HandlerOptions options) {
        RetryRule retry = new RetryRule(options.retry(), options.noRetryOn());
        return new Handlers.HandlerCode<>() {
            @Override
            public @Nullable Object run(T input, RunContext context, @Nullable Connection connection) {
                ActiveAttempt attempt = (ActiveAttempt) context;
                FlowSteps steps = new FlowSteps(
                        attempt,
                        new FlowRecords(attempt, requireNonNull(store)),
                        requireNonNull(codec),
                        requireNonNull(stepThreads));
                WorkflowExecution flow = new WorkflowExecution(attempt, steps, retry);
                return flow.afterCode(execute(workflow, input, flow));
            }

            @Override
            public boolean handlesCancel() {
                return true;
            }
        };
    }

    /** Executes the code, and returns its result or the outcome with which it ended. */
    private static <T, R> @Nullable Object execute(Workflow<T, R> workflow, T input, WorkflowExecution flow) {
        try {
            Object result = workflow.run(input, flow);
            // The code of the workflow may have caught the error by which a call ended it.
            Outcome ended = flow.outcome();
            if (ended != null) return ended;
            flow.requireAllRecordsRead();
            return result;
        } catch (FlowRecords.Ended ended) {
            return ended.outcome();
        } catch (StepFailedException failed) {
            return flow.isFinal(failed)
                    ? Outcome.rejected(String.valueOf(failed.getMessage()))
                    : Outcome.failed(failed);
        } catch (Exception failure) {
            return Outcome.failed(failure);
        }
    }
}
