package io.carillon;

import io.carillon.event.NewEvent;
import io.carillon.internal.api.RunFactory;
import io.carillon.internal.api.TickEvent;
import io.carillon.internal.store.schedule.LedgerRange;
import io.carillon.internal.store.schedule.ScheduleAdmin;
import io.carillon.internal.value.ControlCharacters;
import io.carillon.internal.value.Names;
import io.carillon.internal.value.TextCleaner;
import io.carillon.run.HandlerType;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.schedule.DroppedHistoryPolicy;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.NewSchedule;
import io.carillon.schedule.Preview;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleChange;
import io.carillon.schedule.ScheduleDefinition;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.spi.ScheduleEvent;
import io.carillon.spi.ScheduleListener;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The schedules of a project: create, change, pause, trigger, backfill and delete them, and read their ledger. */
public final class Schedules {
    private static final Logger log = LoggerFactory.getLogger(Schedules.class);
    private static final int MAX_ENTRIES = 10_000;
    /** The maximum number of undeclared schedules that one line of the log names. */
    private static final int MAX_REPORTED = 20;

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

    /**
     * Like {@link #upsert(String, When, HandlerType, Object)}, but with options: policies, queue, priority, retries,
     * timeout.
     */
    public <T> ScheduleChange upsert(String name, When when, HandlerType<T> type, T payload, ScheduleOptions options) {
        return upsertAll(List.of(NewSchedule.of(name, when, type, payload).options(options)))
                .get(0);
    }

    /** Creates or changes a schedule with an encoded payload, for callers that know the target only by name. */
    public ScheduleChange upsert(String name, When when, Target target, Payload encoded, ScheduleOptions options) {
        return upsertAll(List.of(NewSchedule.of(name, when, target, encoded).options(options)))
                .get(0);
    }

    /**
     * Creates or changes a schedule that publishes an event at each tick. The end of the tick and the event commit
     * together: each tick that succeeded has published one event. A topic with versions is not allowed here; declare
     * such a schedule with {@link CarillonBuilder#schedule(String, When, NewEvent, ScheduleOptions)}.
     */
    public ScheduleChange upsert(String name, When when, NewEvent<?> event, ScheduleOptions options) {
        if (event.type().topic().versioned())
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "Topic '%s' has versions: declare a schedule of its events when the application starts."
                            .formatted(event.type().topic().name()));
        TickEvent scheduled = TickEvent.of(name, event, runFactory.codec());
        return upsert(name, when, scheduled.target(), scheduled.payload(), options);
    }

    ScheduleDefinition define(String name, When when, NewEvent<?> event, ScheduleOptions options) {
        TickEvent scheduled = TickEvent.of(name, event, runFactory.codec());
        return define(name, when, scheduled.target(), scheduled.payload(), options);
    }

    private ScheduleDefinition define(NewSchedule schedule) {
        if (schedule.work() instanceof NewSchedule.Work.Handled<?> handled) return define(schedule, handled);
        NewSchedule.Work.Encoded encoded = (NewSchedule.Work.Encoded) schedule.work();
        return define(schedule.name(), schedule.when(), encoded.target(), encoded.payload(), schedule.options());
    }

    private <T> ScheduleDefinition define(NewSchedule schedule, NewSchedule.Work.Handled<T> handled) {
        return define(schedule.name(), schedule.when(), handled.type(), handled.payload(), schedule.options());
    }

    <T> ScheduleDefinition define(String name, When when, HandlerType<T> type, T payload, ScheduleOptions options) {
        Payload encoded = runFactory.encode(type, payload);
        String queue = runFactory.checkedQueue(type, payload, options.queue());
        return define(name, when, Target.handler(type.name()), encoded, queue == null ? options : options.queue(queue));
    }

    private ScheduleDefinition define(String name, When when, Target target, Payload encoded, ScheduleOptions options) {
        RunFactory.requireWithinLimit(target.name(), encoded);
        HandlerOptions handler = runFactory.handlerOptions(target.name());
        Priority priority = options.priority();
        ScheduleDefinition.RunTemplate runTemplate = new ScheduleDefinition.RunTemplate(
                queue(target, handler, options),
                (priority == null ? handler.priority() : priority).number(),
                target.kind(),
                target.name(),
                encoded.bytes(),
                encoded.codec(),
                new Run.Policy(options.retry(), options.timeout()));
        return new ScheduleDefinition(runFactory.project(), name, when, runTemplate, options.policies());
    }

    private String queue(Target target, HandlerOptions handler, ScheduleOptions options) {
        String named = options.queue() == null ? handler.queue() : options.queue();
        return named == null ? runFactory.queueOf(target.name()) : named;
    }

    /**
     * Creates or changes many schedules: much faster than one by one, because new ones are stored together. An
     * identical definition changes nothing. If a definition is invalid, or two have the same name, nothing is stored.
     * After any other error some of the schedules may be stored: repeat the call.
     *
     * @return what changed, in the order of the schedules
     */
    public List<ScheduleChange> upsertAll(List<NewSchedule> schedules) {
        List<ScheduleDefinition> definitions =
                schedules.stream().map(this::define).toList();
        Set<String> names = new HashSet<>();
        for (ScheduleDefinition definition : definitions)
            if (!names.add(definition.name()))
                throw new CarillonException(
                        ErrorCode.DUPLICATE_SCHEDULE,
                        "Two schedules are named '%s'. Schedule names must be unique.".formatted(definition.name()));
        List<ScheduleChange> changes = upsertDefinitions(definitions);
        if (!changes.stream().allMatch(ScheduleChange.Unchanged.class::isInstance)) wakeNodes.run();
        return changes;
    }

    List<ScheduleChange> upsertDefinitions(List<ScheduleDefinition> definitions) {
        List<ScheduleChange> changes = admin.upsertAll(definitions, runFactory.runHeaders()::forSchedule);
        changes.forEach(this::reportChange);
        return changes;
    }

    /**
     * Looks for schedules that an earlier version of this application declared and this one does not: those of its
     * handlers. Deletes them, or reports them in the log.
     */
    void settleUndeclared(Collection<String> declared, Collection<String> handlers, boolean prune) {
        if (handlers.isEmpty()) return;
        Set<String> known = new HashSet<>(declared);
        List<String> undeclared = admin.declared(runFactory.project(), handlers).stream()
                .filter(name -> !known.contains(name))
                .toList();
        for (String name : undeclared)
            if (prune && delete(name))
                log.info(
                        "schedule that is no longer declared deleted schedule={} project={}",
                        name,
                        runFactory.project());
        if (!prune && !undeclared.isEmpty())
            log.warn(
                    "schedules are no longer declared by this application and still run; delete them, or set"
                            + " pruneSchedules in the builder project={} count={} schedules={}",
                    runFactory.project(),
                    undeclared.size(),
                    ControlCharacters.escape(
                            String.join(",", undeclared.subList(0, Math.min(undeclared.size(), MAX_REPORTED)))));
    }

    private void reportChange(ScheduleChange change) {
        Schedule schedule = change.schedule();
        if (change instanceof ScheduleChange.Created)
            listener.onScheduleEvent(new ScheduleEvent.Created(runFactory.project(), schedule.name()));
        if (change instanceof ScheduleChange.Updated)
            listener.onScheduleEvent(
                    new ScheduleEvent.Changed(runFactory.project(), schedule.name(), schedule.version()));
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
        boolean paused = admin.pause(runFactory.project(), checked(name), pause(options));
        if (paused) reportPaused(name, options);
        return paused;
    }

    /**
     * Pauses several schedules, with a few statements for each 500 of them.
     *
     * @return the names of the schedules that this call paused; the others were paused before, or do not exist
     */
    public List<String> pause(Collection<String> names, PauseOptions options) {
        List<String> checked = names.stream().map(Schedules::checked).toList();
        List<String> paused = admin.pause(runFactory.project(), checked, pause(options));
        for (String name : paused) reportPaused(name, options);
        return paused;
    }

    private static Schedule.Pause pause(PauseOptions options) {
        return new Schedule.Pause(Instant.EPOCH, options.by(), options.reason(), options.end());
    }

    private void reportPaused(String name, PauseOptions options) {
        listener.onScheduleEvent(
                new ScheduleEvent.Paused(runFactory.project(), name, options.by(), options.reason(), options.end()));
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
     * Returns the last entries of a range of the ledger, in their order. Unlike {@link #ledger}, it finds what happened
     * most recently to a schedule with very many instants.
     *
     * @param limit the maximum number of entries, between 1 and 10,000
     */
    public List<LedgerEntry> latestEntries(String name, Instant from, Instant to, int limit) {
        if (limit < 1 || limit > MAX_ENTRIES)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "limit must be between 1 and %d (was %d).".formatted(MAX_ENTRIES, limit));
        List<LedgerEntry> entries =
                admin.ledger(runFactory.project(), checked(name), new LedgerRange(from, to, limit, true));
        return entries.subList(Math.max(0, entries.size() - limit), entries.size());
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
