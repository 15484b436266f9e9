package io.carillon.internal.api;

import static java.util.Objects.requireNonNull;

import io.carillon.HandlerOptions;
import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.run.RetryRule;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.WorkflowStepStore;
import io.carillon.run.Outcome;
import io.carillon.run.RunContext;
import io.carillon.spi.PayloadCodec;
import io.carillon.workflow.StepFailedException;
import io.carillon.workflow.Workflow;
import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/** The handlers that execute workflows. */
public final class WorkflowHandlers {
    private @Nullable WorkflowStepStore store;
    private @Nullable PayloadCodec codec;

    /** From now on, the handlers use this storage and this codec. */
    public void useStorage(Storage storage, PayloadCodec payloadCodec) {
        store = storage.workflowSteps();
        codec = payloadCodec;
    }

    /** Returns the handler that executes a workflow up to its end or its next wait. */
    public <T, R> Handlers.HandlerCode<T> handler(Workflow<T, R> workflow, HandlerOptions options) {
        RetryRule retry = new RetryRule(options.retry(), options.noRetryOn());
        return new Handlers.HandlerCode<>() {
            @Override
            public @Nullable Object run(T input, RunContext context, @Nullable Connection connection) {
                WorkflowExecution flow = new WorkflowExecution(
                        (ActiveAttempt) context, requireNonNull(store), requireNonNull(codec), retry);
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
