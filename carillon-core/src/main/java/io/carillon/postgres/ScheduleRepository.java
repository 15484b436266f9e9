package io.carillon.postgres;

import io.carillon.postgres.ScheduleFuture.Fate;
import io.carillon.postgres.ScheduleFuture.Walked;
import io.carillon.postgres.sql.NewRunRows;
import io.carillon.run.RunId;
import io.carillon.schedule.Definition;
import io.carillon.schedule.DroppedHistory;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleId;
import io.carillon.schedule.Stretch;
import io.carillon.schedule.TickPlan;
import io.carillon.schedule.TickPlanner;
import io.carillon.schedule.When;
import io.carillon.store.LedgerEntry;
import io.carillon.store.ScheduleChange;
import io.carillon.store.ScheduleDesk;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Creating, editing, pausing and deleting schedules, each under the schedule's row lock. What was due stays as it was promised; the future is planned anew. */
final class ScheduleRepository implements ScheduleDesk {
    private static final String CLOCK = "SELECT carillon.clock() AS now";

    private static final String GET = "SELECT " + ScheduleRows.COLUMNS
            + " FROM carillon.schedule s WHERE s.project = :project AND s.name = :name";

    private static final String LOCK = GET + " FOR UPDATE OF s";

    private static final String LIST = "SELECT " + ScheduleRows.COLUMNS
            + " FROM carillon.schedule s WHERE s.project = :project AND s.name > :after ORDER BY s.name LIMIT :limit";

    private static final String INSERT = """
            INSERT INTO carillon.schedule
              (project, id, name, kind, expression, zone, anchor, gap, repeat, starts_at, ends_at, excluded, max_runs, jitter, queue, class, target,
               target_name, payload, codec, trace, pause_after, missed, missed_cap, missed_spread, grace, catch_up, overlap, adaptive_min, adaptive_max, adaptive_at, cursor, next_at, tzdata)
            VALUES (:project, :id, :name, :kind, :expression, :zone, :anchor, :gap, :repeat, :startsAt, :endsAt, :excluded::text[]::date[], :maxRuns,
                    make_interval(secs => :jitter), :queue, :class, :target, :targetName, :payload, :codec, :trace, :pauseAfter, :missed, :missedCap,
                    make_interval(secs => :missedSpread), make_interval(secs => :grace), make_interval(secs => :catchUp),
                    :overlap, make_interval(secs => :adaptiveMin), make_interval(secs => :adaptiveMax), carillon.clock(), carillon.clock(), 'infinity',
                    :tzdata)
            ON CONFLICT (project, name) DO NOTHING
            """;

    private static final String UPDATE = """
            UPDATE carillon.schedule
               SET version = version + 1, kind = :kind, expression = :expression, zone = :zone, anchor = :anchor, gap = :gap, repeat = :repeat,
                   starts_at = :startsAt, ends_at = :endsAt, excluded = :excluded::text[]::date[], max_runs = :maxRuns,
                   pause_after = :pauseAfter, missed_cap = :missedCap, missed_spread = make_interval(secs => :missedSpread), jitter = make_interval(secs => :jitter), queue = :queue, class = :class, target = :target,
                   target_name = :targetName, payload = :payload, codec = :codec, trace = CASE WHEN :keep THEN trace ELSE :trace END, missed = :missed, grace = make_interval(secs => :grace),
                   catch_up = make_interval(secs => :catchUp), overlap = :overlap, adaptive_min = make_interval(secs => :adaptiveMin),
                   adaptive_max = make_interval(secs => :adaptiveMax), tzdata = :tzdata, updated_at = carillon.clock()
             WHERE project = :project AND name = :name
            """;

    // What travels with its runs is no part of the promise: nothing is planned anew. A later promise keeps its own.
    private static final String RENEW =
            "UPDATE carillon.schedule SET trace = :trace WHERE project = :project AND id = :id AND version = :seen";

    private static final String PAUSE = """
            UPDATE carillon.schedule
               SET version = version + 1, paused_at = carillon.clock(), paused_by = :by, paused_reason = :reason, paused_until = :until,
                   updated_at = carillon.clock()
             WHERE project = :project AND name = :name
            """;

    private static final String RESUME = """
            UPDATE carillon.schedule
               SET version = version + 1, paused_at = NULL, paused_by = NULL, paused_reason = NULL, paused_until = NULL, updated_at = carillon.clock()
             WHERE project = :project AND name = :name
            """;

    private static final String DELETE = "DELETE FROM carillon.schedule WHERE project = :project AND name = :name";

    private static final String TRIGGER = NewRunRows.of("s", ":id", "'trigger'", "carillon.clock()")
            .ofSchedule("s", "carillon.clock()")
            .from("""
              carillon.schedule s
             WHERE project = :project AND name = :name AND NOT EXISTS (SELECT 1 FROM carillon.run_history h WHERE h.project = s.project AND h.id = :id)
            ON CONFLICT DO NOTHING
            """);

    private final Database database;
    private final Partitions partitions;
    private final TickPlanner planner;

    /** For what fell due already: an edit plans nothing ahead by the old definition. */
    private final TickPlanner upToNow = new TickPlanner(Duration.ZERO, 64);

    private final ScheduleFuture future = new ScheduleFuture();
    private final LedgerRows ledger = new LedgerRows();
    final ScheduleRows.Unreadable unreadable = new ScheduleRows.Unreadable();

    ScheduleRepository(Database database, Partitions partitions, TickPlanner planner) {
        this.database = database;
        this.partitions = partitions;
        this.planner = planner;
    }

    @Override
    public ScheduleChange upsert(Definition wanted, Function<ScheduleId, @Nullable String> luggage) {
        Definition definition = ScheduleRows.asStored(wanted);
        Optional<Walked> walked = walk(definition.project(), definition.name());
        if (walked.isPresent() && same(walked.get().schedule(), definition))
            return renewed(walked.get().schedule(), luggage).orElseGet(() -> upsert(wanted, luggage));
        walked.map(Walked::schedule).ifPresent(this::catchUp);
        return changing(session -> {
            Optional<Schedule> before = lock(session, definition.project(), definition.name());
            if (before.isEmpty()) {
                refuseIfItNeverFires(session, definition.when(), definition.name());
                ScheduleId id = ScheduleId.next();
                int created = ScheduleRows.bind(session.query(INSERT), definition)
                        .uuid("id", id.value())
                        .text("trace", luggage.apply(id))
                        .text("tzdata", ScheduleRows.tzdata())
                        .update();
                Schedule schedule =
                        lock(session, definition.project(), definition.name()).orElseThrow();
                if (created == 1) return new ScheduleChange.Created(plan(session, schedule));
                before = Optional.of(schedule); // another node was first
            }
            Schedule stored = before.get();
            if (same(stored, definition)) return new ScheduleChange.Unchanged(stored);
            refuseIfItNeverFires(session, definition.when(), definition.name());
            Definition paced = definition.atPaceOf(stored.definition());
            return new ScheduleChange.Updated(edit(session, stored, walked, paced, luggage));
        });
    }

    /** Whoever confirms a schedule renews what travels with its runs; empty: it is no longer what was seen. */
    private Optional<ScheduleChange> renewed(Schedule seen, Function<ScheduleId, @Nullable String> luggage) {
        String trace = luggage.apply(seen.id());
        boolean same = trace == null
                || database.single(session -> session.query(RENEW)
                                .text("trace", trace)
                                .text("project", seen.definition().project())
                                .uuid("id", seen.id().value())
                                .number("seen", seen.version())
                                .update())
                        > 0;
        return same ? Optional.of(new ScheduleChange.Unchanged(seen)) : Optional.empty();
    }

    private static boolean same(Schedule stored, Definition wanted) {
        return stored.definition().equals(wanted.atPaceOf(stored.definition()));
    }

    /** The same promise by the time zone rules of this process; false: it is no longer what somebody looked at. */
    boolean planAnew(String project, String name, long seen) {
        Optional<Walked> walked = walk(project, name);
        walked.map(Walked::schedule).ifPresent(this::catchUp);
        return changing(session -> {
            Optional<Schedule> before = lock(session, project, name);
            if (before.isEmpty() || before.get().version() != seen) return false;
            edit(
                    session,
                    before.get(),
                    walked,
                    ScheduleRows.readable(before.get()).definition(),
                    null);
            return true;
        });
    }

    /** Without luggage, that of before travels on. */
    private Schedule edit(
            Session session,
            Schedule before,
            Optional<Walked> walked,
            Definition definition,
            @Nullable Function<ScheduleId, @Nullable String> luggage)
            throws SQLException {
        Instant line = future.line(session, before);
        Schedule accounted = before;
        Fate open = before.paused() ? Fate.PAUSED : Fate.UNREADABLE;
        if (before.paused() || before.unreadable() != null)
            future.cover(session, before, known(walked, before), line, open);
        else accounted = accountFor(session, before, line);
        future.forget(session, accounted, line);
        ScheduleRows.bind(session.query(UPDATE), definition)
                .flag("keep", luggage == null)
                .text("trace", luggage == null ? null : luggage.apply(before.id()))
                .text("tzdata", ScheduleRows.tzdata())
                .update();
        Schedule edited = lock(session, definition.project(), definition.name()).orElseThrow();
        return edited.paused() ? edited : plan(session, edited);
    }

    /** What fell due under the old definition is planned by it, late or not. */
    private Schedule accountFor(Session session, Schedule before, Instant line) throws SQLException {
        Schedule schedule = before;
        while (!schedule.progress().nextAt().isAfter(line)) {
            PlanRepository.write(session, List.of(upToNow.plan(schedule, List.of(), line)));
            schedule =
                    lock(session, before.definition().project(), before.name()).orElseThrow();
        }
        future.cover(session, schedule, known(Optional.empty(), schedule), line, Fate.EXCLUDED);
        return schedule;
    }

    /** The same before anything is locked: after a long standstill there may be many instants to walk over. */
    private void catchUp(Schedule seen) {
        if (seen.paused() || seen.unreadable() != null) return;
        Schedule schedule = seen;
        Instant now = database.single(ScheduleRepository::now);
        while (!schedule.progress().nextAt().isAfter(now)) {
            TickPlan plan = upToNow.plan(schedule, List.of(), now);
            List<TickPlan> moved = partitions.completing(
                    () -> database.single(session -> PlanRepository.write(session, List.of(plan))));
            Optional<Schedule> again = get(seen.definition().project(), seen.name());
            if (moved.isEmpty() || again.isEmpty()) return;
            schedule = again.get();
        }
    }

    private <T> T changing(Database.Work<T> work) {
        return partitions.completing(() -> database.transaction(work));
    }

    /** Walks over what nobody planned, as long as nothing is locked. */
    private Optional<Walked> walk(String project, String name) {
        return get(project, name).map(schedule -> {
            Stretch stretch = Stretch.after(schedule.progress().cursor());
            if (!schedule.paused()) return new Walked(schedule, stretch);
            Instant now = database.single(ScheduleRepository::now);
            return new Walked(schedule, stretch.to(now, schedule.definition().when()));
        });
    }

    private static Walked known(Optional<Walked> walked, Schedule schedule) {
        return walked.orElseGet(
                () -> new Walked(schedule, Stretch.after(schedule.progress().cursor())));
    }

    private static void refuseIfItNeverFires(Session session, When when, String name) throws SQLException {
        Instant now = now(session);
        if (when.next(now).isPresent()) return;
        String what = "Schedule '%s' (%s) would never fire after %s. Check its expression, its start and its end.";
        throw new CarillonException(ErrorCode.NEVER_FIRES, what.formatted(name, when.describe(), now));
    }

    /** The first ticks are born with the change itself: a schedule is never stored without a future. */
    private Schedule plan(Session session, Schedule schedule) throws SQLException {
        TickPlan plan = planner.plan(schedule, List.of(), now(session));
        PlanRepository.write(session, List.of(plan));
        future.announce(session, plan);
        long ticks = schedule.progress().ticks() + plan.ticks().size();
        return schedule.progress(new Schedule.Progress(plan.cursor(), plan.nextAt(), ticks));
    }

    @Override
    public Map<UUID, Schedule.LastRun> lastRuns(List<UUID> ids) {
        return database.single(session -> LedgerRows.lastRuns(session, ids));
    }

    @Override
    public Optional<Schedule> get(String project, String name) {
        return database.single(
                session -> named(session.query(GET), project, name).first(ScheduleRows::readOrMark));
    }

    @Override
    public List<Schedule> list(String project, String after, int limit) {
        return database.single(session -> unreadable.page(
                limit,
                after,
                (from, missing) -> session.query(LIST)
                        .text("project", project)
                        .text("after", from)
                        .number("limit", missing)));
    }

    @Override
    public boolean pause(String project, String name, Schedule.Pause pause) {
        return pause(project, name, pause, Optional.empty());
    }

    /** With a version: only if the schedule still is what somebody looked at. */
    boolean pause(String project, String name, Schedule.Pause pause, Optional<Long> seen) {
        Optional<Walked> walked = walk(project, name);
        return changing(session -> {
            Schedule schedule = existing(session, project, name);
            if (schedule.paused() || changed(schedule, seen)) return false;
            end(session, schedule, walked, Fate.PAUSED);
            named(session.query(PAUSE), project, name)
                    .text("by", pause.by())
                    .text("reason", pause.reason())
                    .instant("until", pause.until())
                    .update();
            return true;
        });
    }

    private static boolean changed(Schedule schedule, Optional<Long> seen) {
        return seen.isPresent() && seen.get() != schedule.version();
    }

    private void end(Session session, Schedule schedule, Optional<Walked> walked, Fate fate) throws SQLException {
        Instant line = future.line(session, schedule);
        future.cover(session, schedule, known(walked, schedule), line, fate);
        future.forget(session, schedule, line);
        future.end(session, schedule, fate);
    }

    @Override
    public boolean resume(String project, String name) {
        return resume(project, name, Optional.empty());
    }

    boolean resume(String project, String name, Optional<Long> seen) {
        Optional<Walked> walked = walk(project, name);
        return changing(session -> {
            Schedule schedule = ScheduleRows.readable(existing(session, project, name));
            if (!schedule.paused() || changed(schedule, seen)) return false;
            Instant line = future.line(session, schedule);
            future.cover(session, schedule, known(walked, schedule), line, Fate.PAUSED);
            future.forget(session, schedule, line);
            named(session.query(RESUME), project, name).update();
            plan(session, lock(session, project, name).orElseThrow());
            return true;
        });
    }

    @Override
    public boolean delete(String project, String name) {
        Optional<Walked> walked = walk(project, name);
        return changing(session -> {
            Optional<Schedule> schedule = lock(session, project, name);
            if (schedule.isEmpty()) return false;
            end(session, schedule.get(), walked, Fate.DELETED);
            future.endBackfills(session, schedule.get(), Fate.DELETED);
            return named(session.query(DELETE), project, name).update() == 1;
        });
    }

    @Override
    public boolean trigger(String project, String name, RunId run) {
        int stored = database.single(session -> named(session.query(TRIGGER), project, name)
                .uuid("id", run.value())
                .update());
        return stored == 1 || get(project, name).isPresent();
    }

    @Override
    public int backfill(String project, String name, Instant from, Instant to, boolean make, DroppedHistory dropped) {
        return database.transaction(session -> {
            Schedule schedule = ScheduleRows.readable(existing(session, project, name));
            List<Instant> missing = Backfill.missing(session, schedule, from, to);
            if (dropped == DroppedHistory.REFUSE) Backfill.refuseForgotten(session, schedule, missing);
            return make ? Backfill.insert(session, schedule, missing, now(session)) : missing.size();
        });
    }

    /** What is stored, and what will be stored when a pause or an excluded date is over: both of the same moment. */
    @Override
    public List<LedgerEntry> ledger(String project, String name, Instant from, Instant to) {
        while (true) {
            Schedule before = get(project, name).orElseThrow(() -> ScheduleRows.unknown(name));
            List<LedgerEntry> entries =
                    new ArrayList<>(database.single(session -> ledger.read(session, before, from, to)));
            Schedule schedule = get(project, name).orElseThrow(() -> ScheduleRows.unknown(name));
            if (schedule.version() == before.version() && schedule.progress().equals(before.progress())) {
                entries.addAll(LedgerRows.open(schedule, from, to, database.single(ScheduleRepository::now)));
                return entries;
            }
        }
    }

    private static Optional<Schedule> lock(Session session, String project, String name) throws SQLException {
        return named(session.query(LOCK), project, name).first(ScheduleRows::readOrMark);
    }

    private static Schedule existing(Session session, String project, String name) throws SQLException {
        return lock(session, project, name).orElseThrow(() -> ScheduleRows.unknown(name));
    }

    private static Instant now(Session session) throws SQLException {
        return session.query(CLOCK).first(row -> row.instant("now")).orElseThrow();
    }

    private static Query named(Query query, String project, String name) throws SQLException {
        return query.text("project", project).text("name", name);
    }
}
