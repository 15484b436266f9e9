package io.carillon.internal.run;

import io.carillon.run.Enqueue;
import io.carillon.run.Origin;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A run to be stored.
 *
 * @param uniqueKey null if the run has no unique key
 * @param schedule null if the run has no schedule
 * @param gate null if no gate limits the run
 * @param headers the headers of the context propagators; null if there are none
 * @param keyWindow how long the unique key is held at least; null if it is held until the run ends
 * @param policy the retry and timeout settings that the run has of its own
 * @param parent the workflow that starts the run; null if none does
 */
public record NewRun(
        RunId id,
        Lane lane,
        Priority priority,
        Origin origin,
        Target target,
        Payload payload,
        Enqueue.Due due,
        @Nullable String uniqueKey,
        @Nullable UUID schedule,
        @Nullable Gate gate,
        @Nullable String headers,
        @Nullable Duration keyWindow,
        Run.Policy policy,
        @Nullable RunId parent) {
    /** Creates a run without headers, key window and policy. */
    public NewRun(
            RunId id,
            Lane lane,
            Priority priority,
            Origin origin,
            Target target,
            Payload payload,
            Enqueue.Due due,
            @Nullable String uniqueKey,
            @Nullable UUID schedule,
            @Nullable Gate gate) {
        this(
                id,
                lane,
                priority,
                origin,
                target,
                payload,
                due,
                uniqueKey,
                schedule,
                gate,
                null,
                null,
                Run.Policy.none(),
                null);
    }

    /** Returns whether the run waits for the end of other runs. */
    public boolean awaits() {
        return due instanceof Enqueue.Due.AfterRuns;
    }

    /** Returns a copy with these headers. */
    public NewRun withHeaders(String newHeaders) {
        return copy(origin, newHeaders, keyWindow, policy, parent);
    }

    /** Returns a copy with this key window. */
    public NewRun withKeyWindow(@Nullable Duration newWindow) {
        return copy(origin, headers, newWindow, policy, parent);
    }

    /** Returns a copy with this policy. */
    public NewRun withPolicy(Run.Policy newPolicy) {
        return copy(origin, headers, keyWindow, newPolicy, parent);
    }

    /** Returns a copy that this workflow starts. */
    public NewRun asChildOf(RunId newParent) {
        return copy(Origin.WORKFLOW, headers, keyWindow, policy, newParent);
    }

    private NewRun copy(
            Origin newOrigin,
            @Nullable String newHeaders,
            @Nullable Duration newWindow,
            Run.Policy newPolicy,
            @Nullable RunId newParent) {
        return new NewRun(
                id,
                lane,
                priority,
                newOrigin,
                target,
                payload,
                due,
                uniqueKey,
                schedule,
                gate,
                newHeaders,
                newWindow,
                newPolicy,
                newParent);
    }
}
