package io.carillon.store;

import io.carillon.run.Attempt;
import io.carillon.run.RunId;

/** A run a node owns by the database's word, with the attempt it is at. */
public record HeldRun(String project, RunId run, int attempt) {
    static HeldRun of(Attempt attempt) {
        return new HeldRun(attempt.lane().project(), attempt.run(), attempt.number());
    }
}
