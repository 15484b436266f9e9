package io.carillon.schedule;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A stored schedule: its definition and how far its instants are accounted for. */
public record Schedule(
        ScheduleId id,
        long version,
        Definition definition,
        Progress progress,
        @Nullable Pause pause) {
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

    public boolean paused() {
        return pause != null;
    }
}
