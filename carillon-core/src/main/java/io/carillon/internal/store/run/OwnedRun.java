package io.carillon.internal.store.run;

import io.carillon.internal.run.Attempt;
import io.carillon.run.RunId;

/** A run that a node owns according to the database, with its current attempt. */
public record OwnedRun(String project, RunId run, int attempt) {
    static OwnedRun of(Attempt attempt) {
        return new OwnedRun(attempt.lane().project(), attempt.run(), attempt.number());
    }
}
