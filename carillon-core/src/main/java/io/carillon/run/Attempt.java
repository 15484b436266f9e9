package io.carillon.run;

import io.carillon.value.PublicId;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One claimed try at a run: all its target needs, and the fence (its number, with the owning node) that guards every write that ends it. The place is where
 * the store found it, a hint from the store to itself.
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
        @Nullable Link link,
        @Nullable String place) {

    /** When it was planned and due; the planned instant is set for ticks and backfills only. */
    public record Times(@Nullable Instant plannedAt, Instant dueAt) {
        /** When a run of this origin should have started: lateness counts from here. A backfill makes up for the past and is late for nothing. */
        public Instant expectedAt(Origin origin) {
            return plannedAt == null || origin != Origin.TICK ? dueAt : plannedAt;
        }
    }

    /** Failures count to the limit; suspicions and crashes say how its nodes fared. */
    public record Counts(int failures, int suspicions, int crashes) {
        /** Whether it runs alone because a node died while holding it. */
        public boolean suspect() {
            return suspicions > 0;
        }
    }

    /** The schedule it belongs to, the gate it came through, and what else travels with it. */
    public record Link(
            @Nullable UUID schedule,
            @Nullable String trace,
            @Nullable String gate) {}

    /** The name of the gate it came through; null: none. */
    public @Nullable String gate() {
        return link == null ? null : link.gate();
    }

    /** Stable over attempts: {@code schedule@planned-instant} for ticks, the run's id otherwise. */
    public String idempotencyKey() {
        if (link != null && link.schedule() != null && times.plannedAt() != null)
            return PublicId.format("sched", link.schedule()) + "@" + times.plannedAt();
        return run.toString();
    }
}
