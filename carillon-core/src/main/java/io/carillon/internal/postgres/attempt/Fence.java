package io.carillon.internal.postgres.attempt;

import io.carillon.internal.jdbc.Row;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.run.RunId;
import java.sql.SQLException;

/** The key of one ending. An older attempt of the same run may be in the same group. */
record Fence(RunId run, int attempt) {
    static Fence of(EndedAttempt endedAttempt) {
        return new Fence(endedAttempt.attempt().run(), endedAttempt.attempt().number());
    }

    static Fence read(Row row) throws SQLException {
        return new Fence(AttemptRows.runId(row, "id"), row.integer("attempt"));
    }
}
