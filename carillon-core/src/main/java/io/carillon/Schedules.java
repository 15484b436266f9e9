package io.carillon;

import io.carillon.run.HandlerType;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.schedule.Definition;
import io.carillon.schedule.DroppedHistory;
import io.carillon.schedule.Preview;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleEvent;
import io.carillon.schedule.ScheduleListener;
import io.carillon.schedule.When;
import io.carillon.store.LedgerEntry;
import io.carillon.store.ScheduleChange;
import io.carillon.store.ScheduleDesk;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Names;
import io.carillon.value.Text;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The schedules of a project. */
public final class Schedules {
    /** The queue of handlers that named none, in versions before queues were named after them. */
    private static final String FORMER_QUEUE = "default";

    private final ScheduleDesk desk;
    private final Payloads payloads;
    private final Runnable changed;
    private final ScheduleListener told;

    Schedules(ScheduleDesk desk, Payloads payloads, Runnable changed, ScheduleListener told) {
        this.desk = desk;
        this.payloads = payloads;
        this.changed = changed;
        this.told = told;
    }

    /** Creates the schedule, or changes the one of this name; the same definition again changes nothing. */
    public <T> ScheduleChange upsert(String name, When when, HandlerType<T> type, T payload) {
        return upsert(name, when, type, payload, options -> options);
    }

    /** The same with options. */
    public <T> ScheduleChange upsert(
            String name, When when, HandlerType<T> type, T payload, UnaryOperator<ScheduleOptions> options) {
        ScheduleChange change = upsert(define(name, when, type, payload, options.apply(ScheduleOptions.defaults())));
        changed.run();
        return change;
    }

    /** The same for a payload that is encoded already, for those who know targets by name only. */
    public ScheduleChange upsert(
            String name, When when, Target target, Payload encoded, UnaryOperator<ScheduleOptions> options) {
        Payload checked = Payloads.checked(target.name(), encoded);
        ScheduleChange change = upsert(define(name, when, target, checked, options.apply(ScheduleOptions.defaults())));
        changed.run();
        return change;
    }

    <T> Definition define(String name, When when, HandlerType<T> type, T payload, ScheduleOptions options) {
        return define(name, when, Target.handler(type.name()), payloads.encode(type, payload), options);
    }

    private Definition define(String name, When when, Target target, Payload encoded, ScheduleOptions options) {
        HandlerOptions handler = payloads.options(target.name());
        Priority priority = options.priority();
        Definition.What what = new Definition.What(
                queue(name, target, handler, options),
                (priority == null ? handler.priority() : priority).number(),
                target.kind(),
                target.name(),
                encoded.bytes(),
                encoded.codec());
        return new Definition(payloads.project(), name, when, what, options.policies());
    }

    /**
     * Where nobody names a queue it is the handler's own. A schedule that is stored in {@code default}, which was the queue of all handlers once, stays there:
     * an upgrade moves no schedule away from the limits and pauses of its queue.
     */
    private String queue(String name, Target target, HandlerOptions handler, ScheduleOptions options) {
        String named = options.queue() == null ? handler.queue() : options.queue();
        if (named != null) return named;
        return get(name)
                .map(stored -> stored.definition().what().queue())
                .filter(FORMER_QUEUE::equals)
                .orElseGet(() -> payloads.queue(target.name()));
    }

    ScheduleChange upsert(Definition definition) {
        ScheduleChange change = desk.upsert(definition, id -> payloads.luggage().ofSchedule(id.value()));
        String project = definition.project();
        if (change instanceof ScheduleChange.Created) told.heard(new ScheduleEvent.Created(project, definition.name()));
        if (change instanceof ScheduleChange.Updated updated)
            told.heard(new ScheduleEvent.Changed(
                    project, definition.name(), updated.schedule().version()));
        return change;
    }

    public Optional<Schedule> get(String name) {
        return desk.get(payloads.project(), checked(name))
                .map(schedule -> withLastRuns(List.of(schedule)).get(0));
    }

    /** All of them by name, up to 10,000. */
    public List<Schedule> list() {
        return withLastRuns(desk.list(payloads.project()));
    }

    /** One page of them by name, from behind this one; the empty text is before all names. */
    public List<Schedule> list(String after, int limit) {
        return withLastRuns(desk.list(payloads.project(), after, limit));
    }

    private List<Schedule> withLastRuns(List<Schedule> schedules) {
        Map<UUID, Schedule.LastRun> last = desk.lastRuns(
                schedules.stream().map(schedule -> schedule.id().value()).toList());
        return schedules.stream()
                .map(schedule -> schedule.lastRun(last.get(schedule.id().value())))
                .toList();
    }

    /** Stops it: no instant of the pause runs, now or later. False: it was paused already. */
    public boolean pause(String name, @Nullable String reason, @Nullable Instant until) {
        return pause(name, "library", reason, until);
    }

    /** The same, with the name of whoever asked for it. With an end it resumes by itself; an instant at the very end runs. */
    public boolean pause(String name, String by, @Nullable String reason, @Nullable Instant until) {
        String why = reason == null ? null : Text.clean(reason, 1_000);
        Schedule.Pause pause = new Schedule.Pause(Instant.EPOCH, Text.clean(by, 200), why, until);
        boolean paused = desk.pause(payloads.project(), checked(name), pause);
        if (paused) told.heard(new ScheduleEvent.Paused(payloads.project(), name, pause.by(), why, until));
        return paused;
    }

    /** Goes on with the next instant. False: it was not paused. */
    public boolean resume(String name) {
        boolean resumed = desk.resume(payloads.project(), checked(name));
        if (resumed) told.heard(new ScheduleEvent.Resumed(payloads.project(), name));
        changed.run();
        return resumed;
    }

    /** One run now, whatever the schedule says. */
    public RunId trigger(String name) {
        RunId run = payloads.newId();
        if (!desk.trigger(payloads.project(), checked(name), run))
            throw new CarillonException(
                    ErrorCode.UNKNOWN_SCHEDULE,
                    "There is no schedule '%s'. schedules().list() names those there are."
                            .formatted(Text.clean(name, 100)));
        changed.run();
        return run;
    }

    /**
     * Makes runs, in the lowest class, for past instants that have no line in the ledger, both ends inclusive; returns how many. Refused where an instant is
     * younger than the schedule and its history has been dropped.
     */
    public int backfill(String name, Instant from, Instant to) {
        return backfill(name, from, to, DroppedHistory.REFUSE);
    }

    /** Makes runs as {@link #backfill(String, Instant, Instant)} does, and says what becomes of instants whose history has been dropped. */
    public int backfill(String name, Instant from, Instant to, DroppedHistory dropped) {
        int made = desk.backfill(payloads.project(), checked(name), from, to, true, dropped);
        changed.run();
        return made;
    }

    /** How many runs {@link #backfill(String, Instant, Instant)} would make; makes none. */
    public int previewBackfill(String name, Instant from, Instant to) {
        return previewBackfill(name, from, to, DroppedHistory.REFUSE);
    }

    /** How many runs {@link #backfill(String, Instant, Instant, DroppedHistory)} would make; makes none. */
    public int previewBackfill(String name, Instant from, Instant to, DroppedHistory dropped) {
        return desk.backfill(payloads.project(), checked(name), from, to, false, dropped);
    }

    /** The next instants of a timing, with marks where daylight saving moved, dropped or doubled one. */
    public Preview preview(When when, Instant after, int count) {
        return when.preview(after, count);
    }

    /** What became of each planned instant in a range, both ends inclusive: the first 10,000 lines. */
    public List<LedgerEntry> ledger(String name, Instant from, Instant to) {
        return desk.ledger(payloads.project(), checked(name), from, to);
    }

    /** Removes it and its waiting ticks; runs that started go on. False: there was none. */
    public boolean delete(String name) {
        boolean deleted = desk.delete(payloads.project(), checked(name));
        if (deleted) told.heard(new ScheduleEvent.Deleted(payloads.project(), name));
        return deleted;
    }

    private static String checked(String name) {
        return Names.check("schedule", name);
    }
}
