package io.carillon.internal.run;

import io.carillon.internal.value.PublicId;
import io.carillon.run.Origin;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One claimed try at a run: the data that its target needs. The attempt number and the owning node form the fence that
 * guards every write that ends the attempt.
 *
 * @param number the attempt number of the run; it grows with each attempt and is never reused
 * @param references null if the run has no schedule, no headers, no gate and no policy
 * @param rowLocation where the store read the row, a hint for its next write; null if unknown
 */
public record Attempt(
        RunId run,
        int number,
        Lane lane,
        Priority priority,
        Origin origin,
        Target target,
        Payload payload,
        Times times,
        Counts counts,
        @Nullable References references,
        @Nullable String rowLocation) {

    /**
     * The planned instant and the due time.
     *
     * @param plannedAt the planned instant; null unless the run is a tick or a backfill
     */
    public record Times(@Nullable Instant plannedAt, Instant dueAt) {
        /**
         * Returns when a run of this origin should have started. Lateness is measured from this instant: the planned
         * instant for a tick, the due time otherwise. A backfill is measured from its due time because its planned
         * instant is in the past by definition.
         */
        public Instant expectedAt(Origin origin) {
            return plannedAt == null || origin != Origin.TICK ? dueAt : plannedAt;
        }
    }

    /**
     * The counters of the run.
     *
     * @param failures failed and timed-out attempts; they count toward the retry limit
     * @param nodeDeaths how many nodes died while they held the run
     * @param crashes how many nodes died while they executed the run in isolation
     */
    public record Counts(int failures, int nodeDeaths, int crashes) {
        /** Returns whether the run executes in isolation because a node died while it held the run. */
        public boolean isIsolated() {
            return nodeDeaths > 0;
        }
    }

    /**
     * What few runs have: references to other objects, headers, and settings.
     *
     * @param schedule the schedule of the run; null if it has none
     * @param headers the headers that the context propagators stored with the run; null if there are none
     * @param gate the name of the gate of the run; null if it has none
     * @param policy the retry and timeout settings that the run has of its own
     */
    public record References(
            @Nullable UUID schedule,
            @Nullable String headers,
            @Nullable String gate,
            Run.Policy policy) {}

    /** Returns the name of the gate of the run; null if it has none. */
    public @Nullable String gate() {
        return references == null ? null : references.gate();
    }

    /** Returns the retry and timeout settings that the run has of its own. */
    public Run.Policy policy() {
        return references == null ? Run.Policy.none() : references.policy();
    }

    /**
     * Returns a key that is the same for all attempts: {@code schedule@planned-instant} for ticks, the
     * run id otherwise.
     */
    public String idempotencyKey() {
        if (references != null && references.schedule() != null && times.plannedAt() != null)
            return PublicId.format("sched", references.schedule()) + "@" + times.plannedAt();
        return run.toString();
    }
}
