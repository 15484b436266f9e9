package io.carillon.workflow;

import org.jspecify.annotations.Nullable;

/**
 * The code of a workflow. It is executed again from its first line after each death of its node, failure and sleep;
 * steps that are recorded return their record. So between two executions it must call the same steps in the same order:
 * what it reads from outside, it reads in a step, or from {@link Flow#now()}, {@link Flow#random()} and {@link
 * Flow#uuid()}.
 *
 * @param <T> the type of the input
 * @param <R> the type of the result, which is stored with the run
 */
@FunctionalInterface
public interface Workflow<T, R> {
    /** Executes the workflow. The result, if not null, is stored with the run. */
    @Nullable
    R run(T input, Flow flow) throws Exception;
}
