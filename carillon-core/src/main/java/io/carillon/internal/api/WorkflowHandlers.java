package io.carillon.internal.api;

import static java.util.Objects.requireNonNull;

import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.WorkflowStepStore;
import io.carillon.run.Outcome;
import io.carillon.run.RunContext;
import io.carillon.spi.PayloadCodec;
import io.carillon.workflow.StepFailedException;
import io.carillon.workflow.Workflow;
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
    public <T, R> Handlers.HandlerCode<T> handler(Workflow<T, R> workflow) {
        return (input, context, connection) -> execute(workflow, input, context);
    }

    private <T, R> @Nullable Object execute(Workflow<T, R> workflow, T input, RunContext context) throws Exception {
        ActiveAttempt attempt = (ActiveAttempt) context;
        FlowReplay flow = new FlowReplay(attempt, requireNonNull(store), requireNonNull(codec));
        Object result;
        try {
            result = workflow.run(input, flow);
        } catch (FlowRecords.Ended ended) {
            return ended.outcome();
        } catch (StepFailedException failed) {
            return flow.isFinal(failed)
                    ? Outcome.rejected(String.valueOf(failed.getMessage()))
                    : Outcome.failed(failed);
        }
        // The code of the workflow caught the error by which a call ended it.
        Outcome ended = flow.outcome();
        if (ended != null) return ended;
        flow.requireAllRecordsRead();
        return result;
    }
}
