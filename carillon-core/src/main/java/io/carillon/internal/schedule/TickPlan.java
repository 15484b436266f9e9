package io.carillon.internal.schedule;

import io.carillon.schedule.Schedule;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The result of planning one schedule: the new cursor, the ticks to create, and the decisions about late instants.
 *
 * @param nextAt the first planned instant after the cursor; {@link Instant#MAX} if there is none
 */
public record TickPlan(
        Schedule schedule,
        Instant cursor,
        Instant nextAt,
        List<Tick> ticks,
        List<LedgerGap> gaps,
        List<LateDecision> lateDecisions) {
    public TickPlan {
        ticks = List.copyOf(ticks);
        gaps = List.copyOf(gaps);
        lateDecisions = List.copyOf(lateDecisions);
    }

    /** Returns whether the plan changes nothing. */
    public boolean isEmpty() {
        return ticks.isEmpty()
                && gaps.isEmpty()
                && lateDecisions.isEmpty()
                && cursor.equals(schedule.planningState().cursor());
    }

    /** Returns the schedule as it is when the plan is written. */
    public Schedule planned() {
        Schedule.PlanningState before = schedule.planningState();
        return schedule.planningState(new Schedule.PlanningState(cursor, nextAt, before.ticks() + ticks.size()));
    }

    /**
     * A run to be created.
     *
     * @param startBy until when it must start; {@link Instant#MAX} if it is already late and may start at any time
     */
    public record Tick(UUID id, Instant plannedAt, Instant dueAt, Instant startBy) {}

    /** A range of planned instants without runs, both ends inclusive. */
    public record LedgerGap(Instant from, Instant to, long count, String state, String reason) {
        /** The reason for instants on excluded dates. */
        public static final String EXCLUDED = "excluded date";

        boolean isExcluded() {
            return reason.equals(EXCLUDED);
        }
    }

    /**
     * The decision about a tick that no node started in time: it runs late or is recorded as missed.
     *
     * @param dueAt from when on it may start
     * @param startBy until when it must start; {@link Instant#MAX} if it may start at any time
     * @param reason why it is missed; null if it runs late
     */
    public record LateDecision(
            UUID run,
            Instant plannedAt,
            Instant dueAt,
            Instant startBy,
            @Nullable String reason) {
        public LateDecision(UUID run, Instant plannedAt, Instant dueAt, @Nullable String reason) {
            this(run, plannedAt, dueAt, Instant.MAX, reason);
        }

        public boolean runsLate() {
            return reason == null;
        }
    }

    /**
     * A tick that no node started in time.
     *
     * @param alreadyApproved whether an earlier plan decided that it runs late
     * @param heldByQueue whether it could not start because its queue is paused, has a limit, or has a breaker that is
     *     not closed
     */
    public record LateTick(UUID run, Instant plannedAt, boolean alreadyApproved, boolean heldByQueue) {
        public LateTick(UUID run, Instant plannedAt, boolean alreadyApproved) {
            this(run, plannedAt, alreadyApproved, false);
        }
    }
}
