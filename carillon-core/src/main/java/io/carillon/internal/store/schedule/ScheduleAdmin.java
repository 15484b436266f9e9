package io.carillon.internal.store.schedule;

import io.carillon.run.RunId;
import io.carillon.schedule.DroppedHistoryPolicy;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleChange;
import io.carillon.schedule.ScheduleDefinition;
import io.carillon.schedule.ScheduleId;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Manual actions on schedules. Each change holds the row lock of the schedule and plans its first ticks in
 * the same transaction.
 */
public interface ScheduleAdmin {
    /** Creates the schedule, or changes it if its definition differs. */
    default ScheduleChange upsert(ScheduleDefinition scheduleDefinition) {
        return upsert(scheduleDefinition, id -> null);
    }

    /**
     * Like {@link #upsert(ScheduleDefinition)}, but sets the headers of the schedule's runs; see {@link #upsertAll}.
     */
    default ScheduleChange upsert(ScheduleDefinition definition, Function<ScheduleId, @Nullable String> headers) {
        return upsertAll(List.of(definition), headers).get(0);
    }

    /**
     * Creates or changes schedules with different names of one project. New ones are stored together with their first
     * ticks, in few statements. A definition without a planned instant in the future is refused before anything is
     * stored.
     *
     * <p>A schedule that is created or changed takes the headers; an unchanged one takes them unless they are null. The
     * function is called on the calling thread.
     *
     * @return the changes in the order of the definitions
     */
    List<ScheduleChange> upsertAll(
            List<ScheduleDefinition> definitions, Function<ScheduleId, @Nullable String> headers);

    Optional<Schedule> get(String project, String name);

    default List<Schedule> list(String project) {
        return list(project, "", 10_000);
    }

    /** Returns the schedules with a name after the given one, ordered by name. */
    List<Schedule> list(String project, String after, int limit);

    /**
     * Returns the last run of each of these schedules that has one: the run of the latest planned instant
     * that was started.
     */
    Map<UUID, Schedule.LastRun> lastRuns(List<UUID> ids);

    /** Returns the names of the schedules that an application declared for one of these handlers, in order. */
    List<String> declared(String project, Collection<String> handlers);

    /** Ends the waiting ticks of a schedule and plans no more. Returns false if it was already paused. */
    boolean pause(String project, String name, Schedule.Pause pause);

    /**
     * Like {@link #pause(String, String, Schedule.Pause)}, for several schedules, with a few statements for each 500.
     * Returns the names of those that this call paused; others were paused before, or do not exist.
     */
    List<String> pause(String project, List<String> names, Schedule.Pause pause);

    /**
     * Continues with the next instant. Instants of the pause are recorded as skipped. Returns false if it
     * was not paused.
     */
    boolean resume(String project, String name);

    /** Removes a schedule and its waiting ticks. Returns false if it does not exist. */
    boolean delete(String project, String name);

    /** Creates one run that is due now, without a planned instant. Returns empty if the schedule does not exist. */
    default Optional<RunId> trigger(String project, String name) {
        RunId run = RunId.generate();
        return trigger(project, name, run) ? Optional.of(run) : Optional.empty();
    }

    /**
     * Like {@link #trigger(String, String)}, but with an id of the caller: repeated calls create one run. Returns false
     * if the schedule does not exist.
     */
    boolean trigger(String project, String name, RunId run);

    /**
     * Counts the past instants of a range that have no ledger entry, and creates a run for each if {@code create}.
     * Returns the count.
     */
    int backfill(String project, String name, Instant from, Instant to, boolean create, DroppedHistoryPolicy dropped);

    /**
     * Like {@link #backfill(String, String, Instant, Instant, boolean, DroppedHistoryPolicy)}, but fails if the history
     * of the range was dropped.
     */
    default int backfill(String project, String name, Instant from, Instant to, boolean create) {
        return backfill(project, name, from, to, create, DroppedHistoryPolicy.REFUSE);
    }

    /** Returns what happened at each planned instant of a range, as single entries and ranges, in order. */
    default List<LedgerEntry> ledger(String project, String name, Instant from, Instant to) {
        return ledger(project, name, LedgerRange.of(from, to));
    }

    /** Like {@link #ledger(String, String, Instant, Instant)}, but with a limit. */
    List<LedgerEntry> ledger(String project, String name, LedgerRange range);
}
