package io.carillon.internal.postgres.attempt;

import io.carillon.internal.jdbc.Query;
import io.carillon.internal.run.PublishingTicks;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.EndedAttempt;
import java.sql.SQLException;
import java.util.List;

/** The kinds of endings of attempts. Each kind has its statement, and parameters that only it has. */
enum EndingKind {
    SUCCEED_IN_PLACE(AttemptEndings.SUCCEED_IN_PLACE),
    SUCCEED(AttemptEndings.SUCCEED),
    PUBLISH(AttemptEndings.PUBLISH),
    RETRY(AttemptEndings.RETRY),
    WAIT(AttemptEndings.WAIT),
    DIE(AttemptEndings.DIE),
    AWAIT(AttemptEndings.AWAIT),
    CANCEL(AttemptEndings.CANCEL);

    private final String sql;

    EndingKind(String sql) {
        this.sql = sql;
    }

    String sql() {
        return sql;
    }

    /** Binds the parameters that only some kinds have. */
    Query bindParameters(Query query, List<EndedAttempt> group) throws SQLException {
        return switch (this) {
            case SUCCEED_IN_PLACE -> query;
            case SUCCEED, PUBLISH -> AttemptRows.EndingParameters.bindResults(query, group);
            case RETRY, WAIT -> AttemptRows.EndingParameters.bindRetries(query, group);
            case AWAIT -> AttemptRows.EndingParameters.bindOpenAttempts(query, group);
            case DIE, CANCEL -> AttemptRows.EndingParameters.bindReasons(query, group);
        };
    }

    /** Returns whether the run goes on with another attempt. */
    boolean isReleased() {
        return this == RETRY || this == WAIT;
    }

    /** Returns the kind whose statement finds its rows by key. */
    EndingKind byKey() {
        return this == SUCCEED_IN_PLACE ? SUCCEED : this;
    }

    static EndingKind of(EndedAttempt endedAttempt) {
        Transition transition = endedAttempt.transition();
        if (transition instanceof Transition.Complete complete) {
            if (endedAttempt.attempt().target().equals(PublishingTicks.TARGET)) return PUBLISH;
            boolean bare = complete.result() == null && endedAttempt.log() == null && endedAttempt.delivery() == null;
            return bare && !endedAttempt.keepPayload() && endedAttempt.attempt().rowLocation() != null
                    ? SUCCEED_IN_PLACE
                    : SUCCEED;
        }
        if (transition instanceof Transition.Snooze snooze && snooze.isWait()) return WAIT;
        if (transition instanceof Transition.Retry || transition instanceof Transition.Snooze) return RETRY;
        if (transition instanceof Transition.AwaitCallback) return AWAIT;
        if (transition instanceof Transition.MarkDead) return DIE;
        if (transition instanceof Transition.Cancel) return CANCEL;
        throw new AssertionError("no statement for " + transition.getClass().getSimpleName());
    }
}
