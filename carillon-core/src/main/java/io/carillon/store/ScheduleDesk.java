package io.carillon.store;

import io.carillon.run.RunId;
import io.carillon.schedule.Definition;
import io.carillon.schedule.DroppedHistory;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What people do to schedules. Each change holds the schedule's row lock and plans its first ticks in the same transaction. */
public interface ScheduleDesk {
    /** Creates the schedule, changes it, or leaves it alone if it is the same promise already. */
    default ScheduleChange upsert(Definition definition) {
        return upsert(definition, id -> null);
    }

    /**
     * The same with what shall travel with its runs: a schedule that is created or changed takes it, one that stays the same takes it unless it is null. It is
     * asked on the calling thread, under the schedule's lock.
     */
    ScheduleChange upsert(Definition definition, Function<ScheduleId, @Nullable String> luggage);

    Optional<Schedule> get(String project, String name);

    default List<Schedule> list(String project) {
        return list(project, "", 10_000);
    }

    /** By name, those behind this one. */
    List<Schedule> list(String project, String after, int limit);

    /** The last run of each of these schedules that has one: of the latest planned instant that was started. */
    Map<UUID, Schedule.LastRun> lastRuns(List<UUID> ids);

    /** Ends its ticks and makes no more; false: it was paused already. */
    boolean pause(String project, String name, Schedule.Pause pause);

    /** Goes on with the next instant; those of the pause are recorded as skipped. False: it was not paused. */
    boolean resume(String project, String name);

    /** Removes it and its waiting ticks; false: there was none. */
    boolean delete(String project, String name);

    /** One run now, without a planned instant. */
    default Optional<RunId> trigger(String project, String name) {
        RunId run = RunId.next();
        return trigger(project, name, run) ? Optional.of(run) : Optional.empty();
    }

    /** The same with an id of the caller's: repeated, it makes one run. False: there is no such schedule. */
    boolean trigger(String project, String name, RunId run);

    /** Runs for past instants without a line in the ledger; returns how many there are, and makes them only where told to. */
    int backfill(String project, String name, Instant from, Instant to, boolean make, DroppedHistory dropped);

    /** The same, refused where history has been dropped. */
    default int backfill(String project, String name, Instant from, Instant to, boolean make) {
        return backfill(project, name, from, to, make, DroppedHistory.REFUSE);
    }

    /** What became of each instant in a range: own rows and stretches, in order. */
    List<LedgerEntry> ledger(String project, String name, Instant from, Instant to);
}
