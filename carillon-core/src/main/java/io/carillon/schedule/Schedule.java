package io.carillon.schedule;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A stored schedule: its definition and how far its instants are accounted for. */
public record Schedule(
        ScheduleId id,
        long version,
        Definition definition,
        Progress progress,
        @Nullable Pause pause,
        Facts facts) {
    /** One that was not stored yet. */
    public Schedule(ScheduleId id, long version, Definition definition, Progress progress, @Nullable Pause pause) {
        this(id, version, definition, progress, pause, new Facts(Instant.EPOCH, Instant.EPOCH, null));
    }

    /** When it was created and last changed, and the run of its latest planned instant that was started; {@code lastRun} is null where there is none, or was not asked for. */
    public record Facts(
            Instant createdAt, Instant updatedAt, @Nullable LastRun lastRun) {}

    /** A run of the schedule: its state as text, and its times on the database's clock. */
    public record LastRun(
            UUID run,
            String state,
            Instant plannedAt,
            Instant startedAt,
            @Nullable Instant endedAt) {}

    /** The same, accounted for further. */
    public Schedule progress(Progress further) {
        return new Schedule(id, version, definition, further, pause, facts);
    }

    /** The same with its last run. */
    public Schedule lastRun(@Nullable LastRun last) {
        return new Schedule(
                id, version, definition, progress, pause, new Facts(facts.createdAt(), facts.updatedAt(), last));
    }

    /** Every instant up to {@code cursor} has a run or an entry; {@code nextAt} is the first one after it, {@link Instant#MAX} if there is none. */
    public record Progress(Instant cursor, Instant nextAt, long ticks) {}

    /** Who stopped it, when, why and until when. */
    public record Pause(
            Instant at,
            String by,
            @Nullable String reason,
            @Nullable Instant until) {
        public Pause {
            if (until != null) When.checkYear("end of the pause", until);
        }

        /** The last moment of the pause: an instant at its very end runs. Null: it has no end. */
        public @Nullable Instant last() {
            if (until == null) return null;
            return (until.isBefore(at) ? at : until).minusNanos(1_000);
        }
    }

    public String name() {
        return definition.name();
    }

    /** How many more ticks it may have. */
    public long runsLeft() {
        Long most = definition.when().bounds().maxRuns();
        return most == null ? Long.MAX_VALUE : Math.max(0, most - progress.ticks());
    }

    /**
     * Why this process cannot read the stored definition, with its words; null: it can. Name, id, version, target, progress, pause and facts are as stored; the
     * policies are the defaults, and no instant is known. It can be replaced, paused, triggered and deleted.
     */
    public When.Timing.@Nullable Unreadable unreadable() {
        return definition.when().timing() instanceof When.Timing.Unreadable unreadable ? unreadable : null;
    }

    public boolean paused() {
        return pause != null;
    }
}
