package io.carillon.workflow;

import io.carillon.workflow.Flow.StepCode;
import io.carillon.workflow.Flow.UndoCode;
import org.jspecify.annotations.Nullable;

/** A step with its code, to be executed in parallel with others by {@link Flow#parallel}. Immutable. */
public final class Branch<T> {
    private final Step<T> step;
    private final StepCode<? extends T> code;
    private final @Nullable UndoCode<? super T> undo;

    private Branch(Step<T> step, StepCode<? extends T> code, @Nullable UndoCode<? super T> undo) {
        this.step = step;
        this.code = code;
        this.undo = undo;
    }

    /** Returns a branch that executes this step. */
    public static <T> Branch<T> of(Step<T> step, StepCode<? extends T> code) {
        return new Branch<>(step, code, null);
    }

    /** Sets the code that undoes the step, as {@link Flow#run(Step, StepCode, UndoCode)} does. */
    public Branch<T> undo(UndoCode<? super T> undo) {
        return new Branch<>(step, code, undo);
    }

    /** Returns the step. */
    public Step<T> step() {
        return step;
    }

    /** Returns the code of the step. */
    public StepCode<? extends T> code() {
        return code;
    }

    /** Returns the code that undoes the step; null if it has none. */
    public @Nullable UndoCode<? super T> undo() {
        return undo;
    }
}
