package io.carillon.internal.run;

import io.carillon.schedule.ScheduleId;
import io.carillon.spi.RunInfo;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Describes runs of the engine to listeners, propagators and interceptors. */
public final class RunInfos {
    private RunInfos() {}

    /** Returns the run of an attempt. */
    public static RunInfo of(Attempt attempt) {
        Attempt.References references = attempt.references();
        return new RunInfo(
                attempt.run(),
                attempt.lane().project(),
                attempt.lane().queue(),
                attempt.target(),
                attempt.priority(),
                attempt.origin(),
                attempt.number(),
                attempt.counts().failures(),
                scheduleId(references == null ? null : references.schedule()),
                attempt.times().plannedAt());
    }

    /** Returns a run that is being enqueued. */
    public static RunInfo of(NewRun run) {
        return new RunInfo(
                run.id(),
                run.lane().project(),
                run.lane().queue(),
                run.target(),
                run.priority(),
                run.origin(),
                0,
                0,
                scheduleId(run.schedule()),
                null);
    }

    private static @Nullable ScheduleId scheduleId(@Nullable UUID schedule) {
        return schedule == null ? null : new ScheduleId(schedule);
    }
}
