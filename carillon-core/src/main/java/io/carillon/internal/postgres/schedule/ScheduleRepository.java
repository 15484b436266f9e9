package io.carillon.internal.postgres.schedule;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.partition.Partitions;
import io.carillon.internal.postgres.schedule.UnstartedTicks.LedgerReason;
import io.carillon.internal.postgres.schedule.UnstartedTicks.UnplannedRange;
import io.carillon.internal.postgres.sql.RunInsert;
import io.carillon.internal.postgres.stats.EndedRows;
import io.carillon.internal.schedule.InstantRange;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.schedule.LedgerRange;
import io.carillon.internal.store.schedule.ScheduleAdmin;
import io.carillon.run.RunId;
import io.carillon.schedule.DroppedHistoryPolicy;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleChange;
import io.carillon.schedule.ScheduleDefinition;
import io.carillon.schedule.ScheduleId;
import io.carillon.schedule.When;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Schedules, changed under their row lock. Due instants keep their definition; the future is planned again. */
public final class ScheduleRepository implements ScheduleAdmin {
    private static final String CLOCK = "SELECT carillon.clock() AS now";

    private static final String GET = "SELECT " + ScheduleRows.COLUMNS
            + " FROM carillon.schedule s WHERE s.project = :project AND s.name = :name";

    private static final String LOCK = GET + " FOR UPDATE OF s";

    private static final String IS_FREE =
            "SELECT 1 FROM carillon.schedule WHERE project = :project AND name = :name FOR UPDATE SKIP LOCKED";

    private static final String LIST = "SELECT " + ScheduleRows.COLUMNS
            + " FROM carillon.schedule s WHERE s.project = :project AND s.name > :after ORDER BY s.name LIMIT :limit";

    private static final String UPDATE = """
            UPDATE carillon.schedule
               SET version = version + 1, kind = :kind, expression = :expression, zone = :zone, anchor = :anchor,
                   gap = :gap, repeat = :repeat,
                   starts_at = :startsAt, ends_at = :endsAt, excluded = :excluded::text[]::date[], max_runs = :maxRuns,
                   pause_after = :pauseAfter, missed_cap = :missedCap,
                     missed_spread = make_interval(secs => :missedSpread), jitter = make_interval(secs => :jitter),
                     queue = :queue, priority = :priority, target = :target,
                   target_name = :targetName, payload = :payload, codec = :codec, policy = :policy,
                   headers = CASE WHEN :keepHeaders THEN headers ELSE :headers END, missed = :missed,
                   grace = make_interval(secs => :grace),
                   catch_up = make_interval(secs => :catchUp), overlap = :overlap,
                     adaptive_min = make_interval(secs => :adaptiveMin),
                   adaptive_max = make_interval(secs => :adaptiveMax), owner = :owner, tzdata = :tzdata,
                   updated_at = carillon.clock()
             WHERE project = :project AND name = :name
            """;

    // Headers are not part of the definition: nothing is planned again. A later version keeps its own headers.
    private static final String UPDATE_HEADERS =
            "UPDATE carillon.schedule SET headers = :headers WHERE project = :project AND id = :id"
                    + " AND version = :version";

    private static final String RESUME = """
            UPDATE carillon.schedule
               SET version = version + 1, paused_at = NULL, paused_by = NULL, paused_reason = NULL, paused_until = NULL,
                 updated_at = carillon.clock()
             WHERE project = :project AND name = :name
            """;

    private static final String DELETE = "DELETE FROM carillon.schedule WHERE project = :project AND name = :name";

    private static final String TRIGGER = RunInsert.of("s", ":id", "'trigger'", "carillon.clock()")
            .ofSchedule("s", "carillon.clock()")
            .from("""
              carillon.schedule s
             WHERE project = :project AND name = :name
               AND NOT EXISTS (SELECT 1 FROM carillon.run_history h WHERE h.project = s.project AND h.id = :id)
            ON CONFLICT DO NOTHING
            """);

    private final Database database;
    private final Partitions partitions;
    private final TickPlanner planner;
    private final UnstartedTicks unstarted;
    private final EndedRows endedRows;
    private final InstantsBeforeEdit instantsBeforeEdit;
    private final LedgerRows ledger = new LedgerRows();
    final ScheduleRows.UnreadableSchedules unreadableSchedules = new ScheduleRows.UnreadableSchedules();

    public ScheduleRepository(Database database, Partitions partitions, TickPlanner planner, EndedRows endedRows) {
        this.database = database;
        this.partitions = partitions;
        this.planner = planner;
        this.endedRows = endedRows;
        this.unstarted = new UnstartedTicks(endedRows);
        this.instantsBeforeEdit = new InstantsBeforeEdit(database, partitions, endedRows);
    }

    @Override
    public List<ScheduleChange> upsertAll(
            List<ScheduleDefinition> wanted, Function<ScheduleId, @Nullable String> headers) {
        List<ScheduleDefinition> definitions =
                wanted.stream().map(ScheduleRows::asStored).toList();
        if (definitions.isEmpty()) return List.of();
        StoredSchedules stored = StoredSchedules.read(database, definitions);
        List<TickPlan> missing = new ArrayList<>();
        for (ScheduleDefinition definition : definitions) {
            Schedule existing = stored.byName().get(definition.name());
            if (existing == null || !isSame(existing, definition)) requireInstants(definition, stored.now());
            if (existing == null)
                missing.add(planner.plan(NewSchedules.unstored(definition, stored.now()), List.of(), stored.now()));
        }
        missing.sort(Comparator.comparing(plan -> plan.schedule().name()));
        Map<String, ScheduleChange> created = NewSchedules.createAll(database, partitions, missing, headers);
        List<ScheduleChange> changes = new ArrayList<>();
        for (ScheduleDefinition definition : definitions) {
            ScheduleChange change = created.get(definition.name());
            Schedule existing = stored.byName().get(definition.name());
            if (change == null && existing != null && isSame(existing, definition))
                change = renewHeaders(existing, headers);
            changes.add(change == null ? change(definition, headers) : change);
        }
        return changes;
    }

    /** Changes an existing schedule, or creates it if it was deleted meanwhile. */
    private ScheduleChange change(ScheduleDefinition wanted, Function<ScheduleId, @Nullable String> headers) {
        Optional<UnplannedRange> unplanned = findUnplanned(wanted.project(), wanted.name());
        if (unplanned.isEmpty()) return upsertAll(List.of(wanted), headers).get(0);
        instantsBeforeEdit.planUnlocked(unplanned.get().schedule());
        Optional<ScheduleChange> change = inTransaction(session -> {
            Optional<Schedule> before = lock(session, wanted.project(), wanted.name());
            if (before.isEmpty()) return Optional.empty();
            Schedule stored = before.get();
            if (isSame(stored, wanted)) return Optional.of(new ScheduleChange.Unchanged(stored));
            requireInstants(wanted, now(session));
            ScheduleDefinition paced = wanted.withCurrentIntervalOf(stored.definition());
            return Optional.of(new ScheduleChange.Updated(edit(session, stored, unplanned, paced, headers)));
        });
        return change.orElseGet(() -> upsertAll(List.of(wanted), headers).get(0));
    }

    /** Renews the headers of an unchanged schedule; null if the schedule has changed since it was read. */
    private @Nullable ScheduleChange renewHeaders(Schedule seen, Function<ScheduleId, @Nullable String> headers) {
        String packed = headers.apply(seen.id());
        boolean same = packed == null
                || database.single(session -> session.query(UPDATE_HEADERS)
                                .text("headers", packed)
                                .text("project", seen.definition().project())
                                .uuid("id", seen.id().value())
                                .number("version", seen.version())
                                .update())
                        > 0;
        return same ? new ScheduleChange.Unchanged(seen) : null;
    }

    /** A caller of the API who repeats the definition of an application does not become its owner. */
    private static boolean isSame(Schedule stored, ScheduleDefinition wanted) {
        ScheduleDefinition definition = stored.definition();
        ScheduleDefinition.Owner owner =
                wanted.owner() == ScheduleDefinition.Owner.API ? definition.owner() : wanted.owner();
        return definition.equals(wanted.owner(owner).withCurrentIntervalOf(definition));
    }

    /**
     * Plans again with the time zone rules of this process; false if the version is not {@code seen}, or another
     * transaction has locked the schedule.
     */
    boolean replan(String project, String name, long seen) {
        // Most locked schedules are found here, without waiting.
        boolean free = database.single(session -> session.query(IS_FREE)
                .text("project", project)
                .text("name", name)
                .first(row -> true)
                .orElse(false));
        return free && replanFree(project, name, seen);
    }

    private boolean replanFree(String project, String name, long seen) {
        Optional<UnplannedRange> unplanned = findUnplanned(project, name);
        unplanned.map(UnplannedRange::schedule).ifPresent(instantsBeforeEdit::planUnlocked);
        return inTransaction(session -> {
            Optional<Schedule> before = lock(session, project, name);
            if (before.isEmpty() || before.get().version() != seen) return false;
            edit(
                    session,
                    before.get(),
                    unplanned,
                    ScheduleRows.requireReadable(before.get()).definition(),
                    null);
            return true;
        });
    }

    /** Edits a schedule under its lock; if {@code headers} is null, the schedule keeps its headers. */
    private Schedule edit(
            Session session,
            Schedule before,
            Optional<UnplannedRange> unplanned,
            ScheduleDefinition scheduleDefinition,
            @Nullable Function<ScheduleId, @Nullable String> headers)
            throws SQLException {
        Instant cutoff = unstarted.cutoff(session, before);
        Schedule accounted = before;
        LedgerReason open = before.isPaused() ? LedgerReason.PAUSED : LedgerReason.UNREADABLE;
        if (before.isPaused() || before.unreadable() != null)
            unstarted.recordGaps(session, before, UnplannedRange.orEmpty(unplanned, before), cutoff, open);
        else accounted = instantsBeforeEdit.plan(session, before, cutoff);
        unstarted.deleteAfter(session, accounted, cutoff);
        ScheduleRows.bind(session.query(UPDATE), scheduleDefinition)
                .flag("keepHeaders", headers == null)
                .text("headers", headers == null ? null : headers.apply(before.id()))
                .text("tzdata", ScheduleRows.tzdata())
                .update();
        Schedule edited = lock(session, scheduleDefinition.project(), scheduleDefinition.name())
                .orElseThrow();
        return edited.isPaused() ? edited : plan(session, edited);
    }

    private <T> T inTransaction(Database.SessionWork<T> sessionWork) {
        return partitions.creatingMissing(() -> database.transaction(sessionWork));
    }

    /** Computes the unplanned instants before anything is locked. */
    private Optional<UnplannedRange> findUnplanned(String project, String name) {
        return get(project, name).map(schedule -> {
            InstantRange range = InstantRange.after(schedule.planningState().cursor());
            if (!schedule.isPaused()) return new UnplannedRange(schedule, range);
            Instant now = database.single(ScheduleRepository::now);
            return new UnplannedRange(
                    schedule, range.extendTo(now, schedule.definition().when()));
        });
    }

    private static void requireInstants(ScheduleDefinition definition, Instant now) {
        When when = definition.when();
        if (when.next(now).isPresent()) return;
        String what = "Schedule '%s' (%s) has no planned instant after %s. Check its timing, from and until.";
        throw new CarillonException(ErrorCode.NO_INSTANTS, what.formatted(definition.name(), when.describe(), now));
    }

    /** Plans the first ticks in the same transaction: no schedule is stored without its next ticks. */
    private Schedule plan(Session session, Schedule schedule) throws SQLException {
        TickPlan plan = planner.plan(schedule, List.of(), now(session));
        PlanRepository.write(session, List.of(plan), endedRows);
        unstarted.notifyFirstTick(session, plan);
        return plan.planned();
    }

    @Override
    public Map<UUID, Schedule.LastRun> lastRuns(List<UUID> ids) {
        return database.single(session -> LedgerRows.lastRuns(session, ids));
    }

    @Override
    public Optional<Schedule> get(String project, String name) {
        return database.single(session -> find(session, project, name));
    }

    @Override
    public List<Schedule> list(String project, String after, int limit) {
        return database.single(session -> unreadableSchedules.page(
                limit,
                after,
                (from, missing) -> session.query(LIST)
                        .text("project", project)
                        .text("after", from)
                        .number("limit", missing)));
    }

    @Override
    public List<String> declared(String project, Collection<String> handlers) {
        return StoredSchedules.declared(database, project, handlers);
    }

    @Override
    public boolean pause(String project, String name, Schedule.Pause pause) {
        return pause(project, name, pause, Optional.empty());
    }

    /** Pauses the schedule if it still has the version {@code seen}; any version if empty. */
    boolean pause(String project, String name, Schedule.Pause pause, Optional<Long> seen) {
        Optional<UnplannedRange> unplanned = findUnplanned(project, name);
        return inTransaction(session -> {
            Schedule schedule = lockExisting(session, project, name);
            if (schedule.isPaused() || hasChanged(schedule, seen)) return false;
            endTicks(session, schedule, unplanned, LedgerReason.PAUSED);
            SchedulePauses.write(session, project, List.of(name), pause);
            return true;
        });
    }

    @Override
    public List<String> pause(String project, List<String> names, Schedule.Pause pause) {
        List<String> paused = new ArrayList<>();
        for (int first = 0; first < names.size(); first += SchedulePauses.MAX_NAMES) {
            List<String> batch = names.subList(first, Math.min(first + SchedulePauses.MAX_NAMES, names.size()));
            paused.addAll(inTransaction(session -> SchedulePauses.pause(session, unstarted, project, batch, pause)));
        }
        return paused;
    }

    private static boolean hasChanged(Schedule schedule, Optional<Long> seen) {
        return seen.isPresent() && seen.get() != schedule.version();
    }

    private void endTicks(Session session, Schedule schedule, Optional<UnplannedRange> unplanned, LedgerReason reason)
            throws SQLException {
        Instant cutoff = unstarted.cutoff(session, schedule);
        unstarted.recordGaps(session, schedule, UnplannedRange.orEmpty(unplanned, schedule), cutoff, reason);
        unstarted.deleteAfter(session, schedule, cutoff);
        unstarted.endUnstarted(session, List.of(schedule), reason);
    }

    @Override
    public boolean resume(String project, String name) {
        return resume(project, name, Optional.empty());
    }

    boolean resume(String project, String name, Optional<Long> seen) {
        Optional<UnplannedRange> unplanned = findUnplanned(project, name);
        return inTransaction(session -> {
            Schedule schedule = ScheduleRows.requireReadable(lockExisting(session, project, name));
            if (!schedule.isPaused() || hasChanged(schedule, seen)) return false;
            Instant cutoff = unstarted.cutoff(session, schedule);
            unstarted.recordGaps(
                    session, schedule, UnplannedRange.orEmpty(unplanned, schedule), cutoff, LedgerReason.PAUSED);
            unstarted.deleteAfter(session, schedule, cutoff);
            bindName(session.query(RESUME), project, name).update();
            plan(session, lock(session, project, name).orElseThrow());
            return true;
        });
    }

    @Override
    public boolean delete(String project, String name) {
        Optional<UnplannedRange> unplanned = findUnplanned(project, name);
        return inTransaction(session -> {
            Optional<Schedule> schedule = lock(session, project, name);
            if (schedule.isEmpty()) return false;
            endTicks(session, schedule.get(), unplanned, LedgerReason.DELETED);
            unstarted.endBackfills(session, schedule.get(), LedgerReason.DELETED);
            return bindName(session.query(DELETE), project, name).update() == 1;
        });
    }

    @Override
    public boolean trigger(String project, String name, RunId run) {
        int stored = database.single(session -> bindName(session.query(TRIGGER), project, name)
                .uuid("id", run.value())
                .update());
        return stored == 1 || get(project, name).isPresent();
    }

    @Override
    public int backfill(
            String project, String name, Instant from, Instant to, boolean make, DroppedHistoryPolicy dropped) {
        return database.transaction(session -> {
            Schedule schedule = ScheduleRows.requireReadable(lockExisting(session, project, name));
            List<Instant> missing = Backfill.missingInstants(session, schedule, from, to);
            if (dropped == DroppedHistoryPolicy.REFUSE) Backfill.rejectDroppedHistory(session, schedule, missing);
            return make ? Backfill.insert(session, schedule, missing, now(session)) : missing.size();
        });
    }

    /** Returns the stored entries, and the entries of pauses and excluded dates that are not over yet. */
    @Override
    public List<LedgerEntry> ledger(String project, String name, LedgerRange range) {
        while (true) {
            Schedule before = get(project, name).orElseThrow(() -> ScheduleRows.unknownSchedule(name));
            List<LedgerEntry> entries =
                    new ArrayList<>(database.single(session -> ledger.read(session, before, range)));
            Schedule schedule = get(project, name).orElseThrow(() -> ScheduleRows.unknownSchedule(name));
            if (schedule.version() == before.version()
                    && schedule.planningState().equals(before.planningState())) {
                entries.addAll(LedgerRows.unrecordedEntries(
                        schedule, range.from(), range.to(), database.single(ScheduleRepository::now)));
                return entries;
            }
        }
    }

    static Optional<Schedule> find(Session session, String project, String name) throws SQLException {
        return bindName(session.query(GET), project, name).first(ScheduleRows::readOrMark);
    }

    static Optional<Schedule> lock(Session session, String project, String name) throws SQLException {
        return bindName(session.query(LOCK), project, name).first(ScheduleRows::readOrMark);
    }

    private static Schedule lockExisting(Session session, String project, String name) throws SQLException {
        return lock(session, project, name).orElseThrow(() -> ScheduleRows.unknownSchedule(name));
    }

    static Instant now(Session session) throws SQLException {
        return session.query(CLOCK).first(row -> row.instant("now")).orElseThrow();
    }

    private static Query bindName(Query query, String project, String name) throws SQLException {
        return query.text("project", project).text("name", name);
    }
}
