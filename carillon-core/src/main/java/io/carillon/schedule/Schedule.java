package io.carillon.schedule;

import io.carillon.internal.value.Years;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A stored schedule.
 *
 * @param version grows with each change of the definition
 * @param pause null if the schedule is not paused
 */
public record Schedule(
        ScheduleId id,
        long version,
        ScheduleDefinition definition,
        PlanningState planningState,
        @Nullable Pause pause,
        Metadata metadata) {
    /** Creates a schedule without stored metadata. */
    public Schedule(
            ScheduleId id,
            long version,
            ScheduleDefinition definition,
            PlanningState planningState,
            @Nullable Pause pause) {
        this(id, version, definition, planningState, pause, new Metadata(Instant.EPOCH, Instant.EPOCH, null));
    }

    /**
     * When the schedule was created and last changed, and its last run.
     *
     * @param lastRun the run of the latest planned instant that has started; null if there is none or it was not
     *     requested
     */
    public record Metadata(
            Instant createdAt, Instant updatedAt, @Nullable LastRun lastRun) {}

    /**
     * A run of the schedule, with times by the database clock.
     *
     * @param endedAt null if the run has not ended
     */
    public record LastRun(
            UUID run,
            String state,
            Instant plannedAt,
            Instant startedAt,
            @Nullable Instant endedAt) {}

    /** Returns a copy with another planning state. */
    public Schedule planningState(PlanningState newState) {
        return new Schedule(id, version, definition, newState, pause, metadata);
    }

    /** Returns a copy with this last run. */
    public Schedule withLastRun(@Nullable LastRun last) {
        return new Schedule(
                id,
                version,
                definition,
                planningState,
                pause,
                new Metadata(metadata.createdAt(), metadata.updatedAt(), last));
    }

    /**
     * The state of planning.
     *
     * @param cursor every planned instant up to here has a run or a ledger entry
     * @param nextAt the first planned instant after the cursor; {@link Instant#MAX} if there is none
     * @param ticks how many ticks were created
     */
    public record PlanningState(Instant cursor, Instant nextAt, long ticks) {}

    /**
     * A pause of the schedule.
     *
     * @param by the person or program that paused the schedule
     * @param reason null if unknown
     * @param until when the schedule resumes automatically; null if it does not
     */
    public record Pause(
            Instant at,
            String by,
            @Nullable String reason,
            @Nullable Instant until) {
        public Pause {
            if (until != null) Years.check("end of the pause", until);
        }

        /**
         * Returns the last instant of the pause; null if the pause has no end. A planned instant exactly at
         * {@code until} runs.
         */
        public @Nullable Instant lastInstant() {
            if (until == null) return null;
            return (until.isBefore(at) ? at : until).minusNanos(1_000);
        }
    }

    /** Returns the name of the schedule. */
    public String name() {
        return definition.name();
    }

    /** Returns how many more ticks the schedule may create. */
    public long runsLeft() {
        Long most = definition.when().bounds().maxRuns();
        return most == null ? Long.MAX_VALUE : Math.max(0, most - planningState.ticks());
    }

    /**
     * Returns why this process cannot read the stored definition, with the stored values; null if it can. For an
     * unreadable schedule the name, id, version, target, planning state, pause and metadata are as stored, the policies
     * are the defaults, and no planned instant is known. It can be replaced, paused, triggered and deleted.
     */
    public When.Timing.@Nullable Unreadable unreadable() {
        return definition.when().timing() instanceof When.Timing.Unreadable unreadable ? unreadable : null;
    }

    /** Returns whether the schedule is paused. */
    public boolean isPaused() {
        return pause != null;
    }
}
