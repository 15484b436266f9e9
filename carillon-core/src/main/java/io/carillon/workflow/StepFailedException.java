package io.carillon.workflow;

/** A step of a workflow failed and will not be tried again: its last try threw, or its result cannot be recorded. */
public final class StepFailedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String step;

    /** Creates the exception for a step, with its key, and the recorded error. */
    public StepFailedException(String step, String error) {
        super("Step '%s' failed: %s".formatted(step, error));
        this.step = step;
    }

    /** Returns the name of the step, with its key in brackets if it has one. */
    public String step() {
        return step;
    }
}
