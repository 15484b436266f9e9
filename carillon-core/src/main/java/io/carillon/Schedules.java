package io.carillon;

import io.carillon.internal.api.RunFactory;
import io.carillon.internal.store.schedule.ScheduleAdmin;
import io.carillon.internal.value.Names;
import io.carillon.internal.value.TextCleaner;
import io.carillon.run.HandlerType;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.schedule.DroppedHistoryPolicy;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.Preview;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleChange;
import io.carillon.schedule.ScheduleDefinition;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.spi.ScheduleEvent;
import io.carillon.spi.ScheduleListener;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** The schedules of a project: create, change, pause, trigger, backfill and delete them, and read their ledger. */
public final class Schedules {
    /** Earlier versions used this queue for every handler without a queue of its own. */
    private static final String FORMER_QUEUE = "default";

    private final ScheduleAdmin admin;
    private final RunFactory runFactory;
    private final Runnable wakeNodes;
    private final ScheduleListener listener;

    Schedules(ScheduleAdmin admin, RunFactory runFactory, Runnable wakeNodes, ScheduleListener listener) {
        this.admin = admin;
        this.runFactory = runFactory;
        this.wakeNodes = wakeNodes;
        this.listener = listener;
    }

    /**
     * Creates a schedule, or changes the schedule with this name. An identical definition changes nothing.
     *
     * @return what changed, with warnings about timings that are valid but probably unintended
     */
    public <T> ScheduleChange upsert(String name, When when, HandlerType<T> type, T payload) {
        return upsert(name, when, type, payload, ScheduleOptions.defaults());
    }

    /** Like {@link #upsert(String, When, HandlerType, Object)}, but with options: policies, queue, priority. */
    public <T> ScheduleChange upsert(String name, When when, HandlerType<T> type, T payload, ScheduleOptions options) {
        ScheduleChange change = upsert(define(name, when, type, payload, options));
        wakeNodes.run();
        return change;
    }

    /** Creates or changes a schedule with an encoded payload, for callers that know the target only by name. */
    public ScheduleChange upsert(String name, When when, Target target, Payload encoded, ScheduleOptions options) {
        Payload checked = RunFactory.requireWithinLimit(target.name(), encoded);
        ScheduleChange change = upsert(define(name, when, target, checked, options));
        wakeNodes.run();
        return change;
    }

    <T> ScheduleDefinition define(String name, When when, HandlerType<T> type, T payload, ScheduleOptions options) {
        Payload encoded = runFactory.encode(type, payload);
        String queue = runFactory.checkedQueue(type, payload, options.queue());
        return define(name, when, Target.handler(type.name()), encoded, queue == null ? options : options.queue(queue));
    }

    private ScheduleDefinition define(String name, When when, Target target, Payload encoded, ScheduleOptions options) {
        HandlerOptions handler = runFactory.handlerOptions(target.name());
        Priority priority = options.priority();
        ScheduleDefinition.RunTemplate runTemplate = new ScheduleDefinition.RunTemplate(
                queue(name, target, handler, options),
                (priority == null ? handler.priority() : priority).number(),
                target.kind(),
                target.name(),
                encoded.bytes(),
                encoded.codec());
        return new ScheduleDefinition(runFactory.project(), name, when, runTemplate, options.policies());
    }

    /**
     * Returns the queue from the options, from the handler, or else the queue named after the handler. A schedule
     * stored in {@code default}, the former queue of all handlers, stays there: an upgrade must not move a schedule
     * away from the limits and pauses of its queue.
     */
    private String queue(String name, Target target, HandlerOptions handler, ScheduleOptions options) {
        String named = options.queue() == null ? handler.queue() : options.queue();
        if (named != null) return named;
        return get(name)
                .map(stored -> stored.definition().template().queue())
                .filter(FORMER_QUEUE::equals)
                .orElseGet(() -> runFactory.queueOf(target.name()));
    }

    ScheduleChange upsert(ScheduleDefinition scheduleDefinition) {
        ScheduleChange change = admin.upsert(scheduleDefinition, runFactory.runHeaders()::forSchedule);
        String project = scheduleDefinition.project();
        if (change instanceof ScheduleChange.Created)
            listener.onScheduleEvent(new ScheduleEvent.Created(project, scheduleDefinition.name()));
        if (change instanceof ScheduleChange.Updated updated)
            listener.onScheduleEvent(new ScheduleEvent.Changed(
                    project, scheduleDefinition.name(), updated.schedule().version()));
        return change;
    }

    /** Returns the schedule with its last run; empty if there is no schedule with this name. */
    public Optional<Schedule> get(String name) {
        return admin.get(runFactory.project(), checked(name))
                .map(schedule -> withLastRuns(List.of(schedule)).get(0));
    }

    /** Returns the first 10,000 schedules, ordered by name. */
    public List<Schedule> list() {
        return withLastRuns(admin.list(runFactory.project()));
    }

    /**
     * Returns one page of schedules, ordered by name.
     *
     * @param after the name after which the page starts; the empty string for the first page
     */
    public List<Schedule> list(String after, int limit) {
        return withLastRuns(admin.list(runFactory.project(), after, limit));
    }

    private List<Schedule> withLastRuns(List<Schedule> schedules) {
        Map<UUID, Schedule.LastRun> last = admin.lastRuns(
                schedules.stream().map(schedule -> schedule.id().value()).toList());
        return schedules.stream()
                .map(schedule -> schedule.withLastRun(last.get(schedule.id().value())))
                .toList();
    }

    /**
     * Pauses a schedule until it is resumed. Planned instants within the pause are skipped and not caught up later.
     *
     * @return whether this call paused the schedule; false if it was already paused
     * @throws CarillonException with {@link ErrorCode#UNKNOWN_SCHEDULE} if the schedule does not exist
     */
    public boolean pause(String name) {
        return pause(name, PauseOptions.untilResumed());
    }

    /** Like {@link #pause(String)}, but with options: the end of the pause, its reason and its author. */
    public boolean pause(String name, PauseOptions options) {
        Schedule.Pause pause = new Schedule.Pause(Instant.EPOCH, options.by(), options.reason(), options.end());
        boolean paused = admin.pause(runFactory.project(), checked(name), pause);
        if (paused)
            listener.onScheduleEvent(
                    new ScheduleEvent.Paused(runFactory.project(), name, pause.by(), pause.reason(), pause.until()));
        return paused;
    }

    /**
     * Resumes a paused schedule with its next planned instant. Returns false if the schedule is not paused.
     *
     * @throws CarillonException with {@link ErrorCode#UNKNOWN_SCHEDULE} if the schedule does not exist
     */
    public boolean resume(String name) {
        boolean resumed = admin.resume(runFactory.project(), checked(name));
        if (resumed) listener.onScheduleEvent(new ScheduleEvent.Resumed(runFactory.project(), name));
        wakeNodes.run();
        return resumed;
    }

    /**
     * Creates one run that is due immediately, independent of the timing of the schedule. The overlap policy applies.
     *
     * @throws CarillonException with {@link ErrorCode#UNKNOWN_SCHEDULE} if the schedule does not exist
     */
    public RunId trigger(String name) {
        RunId run = runFactory.newId();
        if (!admin.trigger(runFactory.project(), checked(name), run))
            throw new CarillonException(
                    ErrorCode.UNKNOWN_SCHEDULE,
                    "There is no schedule '%s'. schedules().list() returns the existing schedules."
                            .formatted(TextCleaner.clean(name, 100)));
        wakeNodes.run();
        return run;
    }

    /**
     * Creates runs, with the lowest priority, for past planned instants that have no entry in the ledger.
     *
     * @param from the first instant, inclusive
     * @param to the last instant, inclusive
     * @return how many runs were created
     * @throws CarillonException with {@link ErrorCode#HISTORY_DROPPED} if the range contains instants after the
     *     creation of the schedule whose history was already removed by retention
     */
    public int backfill(String name, Instant from, Instant to) {
        return backfill(name, from, to, DroppedHistoryPolicy.REFUSE);
    }

    /**
     * Like {@link #backfill(String, Instant, Instant)}, but with a policy for instants whose history was already
     * removed by retention.
     */
    public int backfill(String name, Instant from, Instant to, DroppedHistoryPolicy dropped) {
        int made = admin.backfill(runFactory.project(), checked(name), from, to, true, dropped);
        wakeNodes.run();
        return made;
    }

    /** Returns how many runs {@link #backfill(String, Instant, Instant)} would create, without creating them. */
    public int previewBackfill(String name, Instant from, Instant to) {
        return previewBackfill(name, from, to, DroppedHistoryPolicy.REFUSE);
    }

    /**
     * Returns how many runs {@link #backfill(String, Instant, Instant, DroppedHistoryPolicy)} would create, without
     * creating them.
     */
    public int previewBackfill(String name, Instant from, Instant to, DroppedHistoryPolicy dropped) {
        return admin.backfill(runFactory.project(), checked(name), from, to, false, dropped);
    }

    /**
     * Returns the next planned instants of a timing, and marks instants that a daylight saving transition moves, skips
     * or repeats.
     */
    public Preview preview(When when, Instant after, int count) {
        return when.preview(after, count);
    }

    /**
     * Returns what happened to each planned instant of a range, both ends inclusive. Returns at most 10,000 entries.
     */
    public List<LedgerEntry> ledger(String name, Instant from, Instant to) {
        return admin.ledger(runFactory.project(), checked(name), from, to);
    }

    /**
     * Deletes a schedule and its waiting ticks. Runs that have started continue. Returns false if the schedule
     * does not exist.
     */
    public boolean delete(String name) {
        boolean deleted = admin.delete(runFactory.project(), checked(name));
        if (deleted) listener.onScheduleEvent(new ScheduleEvent.Deleted(runFactory.project(), name));
        return deleted;
    }

    private static String checked(String name) {
        return Names.check("schedule", name);
    }
}
