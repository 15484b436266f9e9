package io.carillon.run;

/** The answer of a redrive, for each run asked for. */
public sealed interface Redrive {
    /** The dead run this speaks of. */
    RunId dead();

    /** It left the dead letter; the new, linked run does the work again. */
    record Redriven(RunId dead, RunId run) implements Redrive {}

    /** Another run holds its key now; it stays in the dead letter. */
    record KeyTaken(RunId dead, String key) implements Redrive {}

    /** It is not in the dead letter (any more). */
    record Gone(RunId dead) implements Redrive {}
}
