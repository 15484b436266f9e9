package io.carillon.run;

/** The result of a redrive for one dead run. */
public sealed interface RedriveResult {
    /** Returns the id of the dead run. */
    RunId dead();

    /** The dead run was replaced by a new run that is linked to it. */
    record Redriven(RunId dead, RunId run) implements RedriveResult {}

    /** Another run holds the unique key; the run stays dead. */
    record KeyTaken(RunId dead, String uniqueKey) implements RedriveResult {}

    /** The run is not dead, or no longer. */
    record NotDead(RunId dead) implements RedriveResult {}
}
