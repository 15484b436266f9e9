package io.carillon.postgres;

import static java.util.Objects.requireNonNull;

import io.carillon.run.ErrorText;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import io.carillon.store.PlanStore;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Changes schedules where nobody does it by hand: pauses begin and end, intervals follow the backlog, and new time zone rules move the future. */
final class ScheduleKeeper {
    static final String OVER = """
            SELECT s.project, s.name, s.id, s.version FROM carillon.schedule s
             WHERE s.paused_until <= carillon.clock() AND s.id <> ALL (:unreadable::uuid[]) ORDER BY s.paused_until LIMIT 500
            """;

    // Whoever shall pause by itself and has a run soon.
    static final String MAY_FAIL = """
            SELECT * FROM carillon.schedule
             WHERE paused_at IS NULL AND pause_after IS NOT NULL
               AND next_at >= :since AND next_at <= carillon.clock() + make_interval(secs => :ahead)
             ORDER BY next_at LIMIT 500
            """;

    // Asked in each round: no success has to reset a counter, and a schedule without the wish
    // costs
    // nothing. An edit or a resume starts the count anew: what failed before it was another promise.
    private static final String FAILING = """
            SELECT s.project, s.name, s.id, s.version, s.pause_after, f.error
              FROM (""" + MAY_FAIL + """
                   ) s
              CROSS JOIN LATERAL (
                SELECT count(*) AS failed, (array_agg(e.reason ORDER BY e.planned_at DESC))[1] AS error
                  FROM (SELECT h.state, h.reason, h.planned_at FROM carillon.run_history h
                         WHERE h.schedule_id = s.id AND h.origin IN ('tick', 'backfill') AND h.origin = 'tick'
                           AND h.state IN ('succeeded', 'dead', 'quarantined') AND h.ended_at > s.updated_at
                         ORDER BY h.planned_at DESC LIMIT s.pause_after) e
                 WHERE e.state <> 'succeeded') f
             WHERE f.failed >= s.pause_after
            """;

    // Rules newer than those of the schedule may move its instants. The ticks ahead come along: where they stay, the
    // schedule is only marked.
    static final String OLDER_RULES = "SELECT " + ScheduleRows.COLUMNS + """
              , carillon.clock() AS now,
              array(SELECT (extract(epoch FROM r.planned_at) * 1000000)::bigint FROM carillon.run r
                     WHERE r.schedule_id = s.id AND r.origin IN ('tick', 'backfill') AND r.origin = 'tick' AND r.planned_at > carillon.clock()
                     ORDER BY r.planned_at) AS ahead
              FROM carillon.schedule s
             WHERE s.tzdata COLLATE "C" < :tzdata AND s.kind <> 'once' AND s.zone <> 'UTC' AND s.zone <> 'Z' AND s.id <> ALL (:unreadable::uuid[])
             ORDER BY s.tzdata COLLATE "C" LIMIT 1000
            """;

    // By key, as plans are written: whoever holds a schedule is about to change it. The new version keeps plans away
    // that
    // were made by the older rules.
    private static final String MARK_RULES = """
            WITH fenced AS MATERIALIZED (
              SELECT w.* FROM unnest(:projects::text[], :ids::uuid[], :versions::bigint[], :cursors::timestamptz[], :nexts::timestamptz[])
                     AS w(project, id, version, cursor, next_at)
                CROSS JOIN LATERAL (SELECT 1 FROM carillon.schedule
                                     WHERE project = w.project AND id BETWEEN w.id AND w.id AND cursor = w.cursor AND version = w.version
                                     ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) s)
            UPDATE carillon.schedule s SET tzdata = :tzdata, next_at = w.next_at, version = s.version + 1
              FROM (SELECT * FROM fenced LIMIT cardinality(:ids::uuid[])) w
             WHERE s.project = w.project AND s.id = w.id AND s.cursor = w.cursor AND s.version = w.version
            """;

    // Its own runs are no backlog to a schedule: the one that looks may be among them.
    static final String ADAPTABLE = "SELECT " + ScheduleRows.COLUMNS + """
              , s.adaptive_backlog, lane.backlog
              FROM carillon.schedule s
              CROSS JOIN LATERAL (
                SELECT count(*) AS backlog
                  FROM (SELECT 1 FROM unnest('{0,1,2,3}'::smallint[]) AS c(class)
                         CROSS JOIN LATERAL (SELECT name FROM carillon.handlers_of(s.queue, s.project, c.class) AS name LIMIT 1000) handler
                         CROSS JOIN LATERAL (SELECT 1 FROM carillon.run r
                                              WHERE r.queue = s.queue AND r.project = s.project AND r.class = c.class AND r.target_name = handler.name
                                                AND r.ready_at <= carillon.clock() AND r.owner IS NULL AND r.schedule_id IS DISTINCT FROM s.id
                                              ORDER BY r.ready_at LIMIT 10000) waiting
                         LIMIT 10000) head) lane
             WHERE s.adaptive_min IS NOT NULL AND s.paused_at IS NULL AND s.adaptive_at IS DISTINCT FROM s.cursor AND s.cursor <= carillon.clock()
               AND s.id <> ALL (:unreadable::uuid[])
             ORDER BY s.cursor LIMIT 50
            """;

    private static final String ADAPT = """
            UPDATE carillon.schedule
               SET expression = :expression, anchor = cursor, next_at = :next, adaptive_at = cursor, adaptive_backlog = :backlog
             WHERE project = :project AND id = :id AND version = :version AND cursor = :cursor AND paused_at IS NULL
               AND adaptive_at IS DISTINCT FROM cursor
            """;

    private static final Logger log = LoggerFactory.getLogger(ScheduleKeeper.class);
    private final Database database;
    private final ScheduleRepository schedules;
    private final ScheduleRows.Unreadable unreadable;

    ScheduleKeeper(Database database, ScheduleRepository schedules) {
        this.database = database;
        this.schedules = schedules;
        this.unreadable = schedules.unreadable;
    }

    ScheduleRows.Unreadable unreadable() {
        return unreadable;
    }

    /** A schedule as it was seen, and the pause it needs; null: its pause is over. */
    private record Turn(String project, String name, UUID id, long version, Schedule.@Nullable Pause pause) {
        static Turn of(Row row, Schedule.@Nullable Pause pause) throws SQLException {
            return new Turn(row.text("project"), row.text("name"), row.uuid("id"), row.number("version"), pause);
        }
    }

    List<Schedule> turn(PlanStore.Reach reach) {
        List<Turn> turns = database.single(session -> {
            List<Turn> found = new ArrayList<>(
                    session.query(OVER).uuids("unreadable", unreadable.ids()).list(row -> Turn.of(row, null)));
            found.addAll(session.query(FAILING)
                    .instant("since", reach.since())
                    .seconds("ahead", reach.ahead())
                    .list(row -> Turn.of(row, failed(row.integer("pause_after"), row.maybeText("error")))));
            return found;
        });
        List<Schedule> turned = new ArrayList<>();
        for (Turn turn : turns)
            if (did(turn)) schedules.get(turn.project, turn.name).ifPresent(turned::add);
        return turned;
    }

    private record Older(Schedule schedule, Instant nextAt, boolean moves) {}

    int followZones() {
        String rules = ScheduleRows.tzdata();
        List<Older> older = database
                .single(session -> session.query(OLDER_RULES)
                        .text("tzdata", rules)
                        .uuids("unreadable", unreadable.ids())
                        .list(row -> {
                            Instant now = row.instant("now");
                            List<Long> ahead = row.numbers("ahead");
                            return unreadable.read(row).map(schedule -> older(schedule, now, ahead));
                        }))
                .stream()
                .flatMap(Optional::stream)
                .toList();
        int followed = mark(rules, older.stream().filter(one -> !one.moves).toList());
        for (Older one : older) {
            if (!one.moves) continue;
            Schedule schedule = one.schedule;
            String project = schedule.definition().project();
            if (!unlessRefused(schedule, () -> schedules.planAnew(project, schedule.name(), schedule.version())))
                continue;
            followed++;
            log.info("schedule planned anew schedule={} project={} tzdata={}", schedule.name(), project, rules);
        }
        return followed;
    }

    /** Whether the ticks that lie ahead are those that the rules of this process make. */
    private static Older older(Schedule schedule, Instant now, List<Long> ahead) {
        When when = schedule.definition().when();
        Instant cursor = schedule.progress().cursor();
        List<Long> instants = new ArrayList<>();
        Optional<Instant> at = when.next(now);
        while (!schedule.paused() && at.isPresent() && !at.get().isAfter(cursor) && instants.size() <= ahead.size()) {
            instants.add(ChronoUnit.MICROS.between(Instant.EPOCH, at.get()));
            at = when.next(at.get());
        }
        Instant next =
                schedule.runsLeft() == 0 ? Instant.MAX : when.next(cursor).orElse(Instant.MAX);
        return new Older(schedule, next, !instants.equals(ahead));
    }

    /** A group in which one is refused is split down to that one. */
    private int mark(String rules, List<Older> same) {
        if (same.isEmpty()) return 0;
        List<Older> ordered = same.stream()
                .sorted(Comparator.comparing(one -> one.schedule.id().value()))
                .toList();
        try {
            return database.single(session -> session.query(MARK_RULES)
                    .text("tzdata", rules)
                    .column(
                            "projects",
                            "text",
                            ordered,
                            one -> one.schedule.definition().project())
                    .column("ids", "uuid", ordered, one -> one.schedule.id().value())
                    .column("versions", "int8", ordered, one -> one.schedule.version())
                    .column(
                            "cursors",
                            "timestamptz",
                            ordered,
                            one -> one.schedule.progress().cursor())
                    .column("nexts", "timestamptz", ordered, Older::nextAt)
                    .update());
        } catch (StorageException failure) {
            if (!failure.rowAtFault()) throw failure;
            int half = ordered.size() / 2;
            if (half > 0)
                return mark(rules, ordered.subList(0, half)) + mark(rules, ordered.subList(half, ordered.size()));
            refused(ordered.get(0).schedule, failure);
            return 0;
        }
    }

    int followBacklogs() {
        record Look(Schedule schedule, long before, long now) {}
        List<Optional<Look>> looks = database.single(session -> session.query(ADAPTABLE)
                .uuids("unreadable", unreadable.ids())
                .list(row -> {
                    long before = row.number("adaptive_backlog");
                    long now = row.number("backlog");
                    return unreadable.read(row).map(schedule -> new Look(schedule, before, now));
                }));
        int followed = 0;
        for (Look look : looks.stream().flatMap(Optional::stream).toList())
            if (unlessRefused(look.schedule, () -> adapt(look.schedule, look.before, look.now))) followed++;
        return followed;
    }

    private boolean adapt(Schedule schedule, long before, long now) {
        When when = schedule.definition().when();
        Instant cursor = schedule.progress().cursor();
        Duration next = requireNonNull(when.adaptive()).next(requireNonNull(when.step()), before, now);
        return database.single(session -> session.query(ADAPT)
                        .text("project", schedule.definition().project())
                        .uuid("id", schedule.id().value())
                        .number("version", schedule.version())
                        .instant("cursor", cursor)
                        .text("expression", next.toSeconds() + " seconds")
                        .instant(
                                "next",
                                schedule.runsLeft() == 0
                                        ? Instant.MAX
                                        : when.paced(next, cursor).next(cursor).orElse(Instant.MAX))
                        .number("backlog", now)
                        .update()
                == 1);
    }

    private boolean did(Turn turn) {
        Optional<Long> seen = Optional.of(turn.version);
        return unlessRefused(
                () -> turn.pause == null
                        ? schedules.resume(turn.project, turn.name, seen)
                        : schedules.pause(turn.project, turn.name, turn.pause, seen),
                failure ->
                        unreadable.add(turn.id, turn.project + "/" + turn.name, String.valueOf(failure.getMessage())));
    }

    private boolean unlessRefused(Schedule schedule, BooleanSupplier change) {
        return unlessRefused(change, failure -> refused(schedule, failure));
    }

    private void refused(Schedule schedule, RuntimeException failure) {
        unreadable.add(
                schedule.id().value(),
                schedule.definition().project() + "/" + schedule.name(),
                String.valueOf(failure.getMessage()));
    }

    /** One schedule must not stop the planning of others. */
    private static boolean unlessRefused(BooleanSupplier change, Consumer<RuntimeException> refused) {
        try {
            return change.getAsBoolean();
        } catch (CarillonException refusal) {
            if (refusal.code() == ErrorCode.UNKNOWN_SCHEDULE) return false; // deleted since we looked
            boolean one = refusal.code() == ErrorCode.SCHEDULE_UNREADABLE
                    || (refusal instanceof StorageException failure && failure.rowAtFault());
            if (!one) throw refusal;
            refused.accept(refusal);
            return false;
        } catch (IllegalArgumentException | DateTimeException unreadable) {
            refused.accept(unreadable);
            return false;
        }
    }

    private static Schedule.Pause failed(int times, @Nullable String error) {
        String last = error == null ? "" : ": " + ErrorText.firstLine(error);
        String why = times == 1 ? "a run failed" : times + " runs in a row failed";
        return new Schedule.Pause(Instant.EPOCH, "carillon", why + last, null);
    }
}
