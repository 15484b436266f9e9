package io.carillon.workflow;

import io.carillon.run.HandlerType;

/**
 * The stored name of a workflow and the Java type of its input. A workflow is a run: whatever stores a run of a
 * handler, such as an enqueue or a schedule, starts a workflow with {@link #handlerType()}.
 *
 * @param handlerType the name under which the runs of the workflow are stored, and the type of their payload
 */
public record WorkflowType<T>(HandlerType<T> handlerType) {
    /** Returns a type of workflows. The name is that of their handler. */
    public static <T> WorkflowType<T> of(String name, Class<T> input) {
        return new WorkflowType<>(HandlerType.of(name, input));
    }

    /** Returns the name of the workflow. */
    public String name() {
        return handlerType.name();
    }
}
