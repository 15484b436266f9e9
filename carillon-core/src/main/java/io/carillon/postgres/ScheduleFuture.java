package io.carillon.postgres;

import io.carillon.schedule.Schedule;
import io.carillon.schedule.TickPlan;
import io.carillon.schedule.When;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What an edit does to ticks that exist. The line between past and future is T, the later of the clock and the latest instant that ever started: unstarted
 * ticks beyond T are forgotten and will be planned anew; those up to T keep the definition under which they fell due, or end in the ledger.
 */
final class ScheduleFuture {
    private static final String LINE = """
            SELECT greatest(carillon.clock(),
                     (SELECT max(planned_at) FROM carillon.run WHERE schedule_id = :id AND origin IN ('tick', 'backfill') AND attempt > 0),
                     (SELECT max(planned_at) FROM carillon.run_history
                       WHERE schedule_id = :id AND origin IN ('tick', 'backfill') AND started_at IS NOT NULL
                         AND day >= (carillon.clock() AT TIME ZONE 'UTC')::date - 1)) AS line
            """;

    private static final String FORGET = """
            DELETE FROM carillon.run
             WHERE schedule_id = :id AND origin = 'tick' AND attempt = 0 AND owner IS NULL AND planned_at > :line
            """;

    private static final String MOVE_CURSOR = """
            UPDATE carillon.schedule SET cursor = :line WHERE project = :project AND id = :id
            """;

    private static final String END = """
            WITH gone AS (
              DELETE FROM carillon.run
               WHERE schedule_id = :id AND origin = 'tick' AND attempt = 0 AND owner IS NULL RETURNING *)
            INSERT INTO carillon.run_history
              (project, id, day, queue, class, suspect, crashes, attempt, failures, due_at, planned_at, started_at, ended_at, created_at,
               schedule_id, parent_id, owner, state, origin, target, target_name, key, reason, trace)
            SELECT project, id, day, queue, class, suspect, crashes, attempt, failures, due_at, planned_at, NULL, carillon.clock(), created_at,
                   schedule_id, parent_id, NULL, :state, origin, target, target_name, key, :reason, trace
              FROM gone
            """;

    private static final String SKIP = """
            INSERT INTO carillon.ledger_gap (project, schedule_id, from_at, to_at, day, count, state, reason, version)
            VALUES (:project, :id, :from, :to, (:to::timestamptz AT TIME ZONE 'UTC')::date, :count, 'skipped', :reason, :version)
            """;

    private static final String ANNOUNCE = """
            SELECT pg_notify('carillon', 'work ' || :queue || ' ' || :project || ' ' || (extract(epoch FROM :first::timestamptz) * 1000)::bigint)
            """;

    private final Partitions partitions;

    ScheduleFuture(Partitions partitions) {
        this.partitions = partitions;
    }

    /** Forgets what lies beyond T and moves the cursor back to T. */
    void forget(Session session, Schedule schedule) throws SQLException {
        Instant line = session.query(LINE)
                .uuid("id", schedule.id().value())
                .first(row -> row.instant("line"))
                .orElseThrow();
        session.query(FORGET)
                .uuid("id", schedule.id().value())
                .instant("line", line)
                .update();
        moveCursor(session, schedule, line);
    }

    /** The same, and ticks up to T that nobody started end in the ledger. */
    void end(Session session, Schedule schedule, String state, String reason) throws SQLException {
        forget(session, schedule);
        session.query(END)
                .uuid("id", schedule.id().value())
                .text("state", state)
                .text("reason", reason)
                .update();
    }

    /** Records the instants between the cursor and now as one skipped stretch. */
    void skip(Session session, Schedule schedule, Instant now, String reason) throws SQLException {
        When when = schedule.definition().when();
        Optional<Instant> at = when.next(schedule.progress().cursor());
        @Nullable Instant first = null;
        @Nullable Instant last = null;
        long count = 0;
        while (at.isPresent() && !at.get().isAfter(now)) {
            if (first == null) first = at.get();
            last = at.get();
            count++;
            at = when.next(last);
        }
        if (first != null && last != null)
            session.query(SKIP)
                    .text("project", schedule.definition().project())
                    .uuid("id", schedule.id().value())
                    .instant("from", first)
                    .instant("to", last)
                    .number("count", count)
                    .text("reason", reason)
                    .number("version", schedule.version())
                    .update();
        if (schedule.progress().cursor().isBefore(now)) moveCursor(session, schedule, now);
    }

    /** The hint rides along with the transaction, so that a sleeping node knows of the new first tick. */
    void announce(Session session, TickPlan plan) throws SQLException {
        Optional<Instant> first =
                plan.ticks().stream().map(TickPlan.Tick::dueAt).min(Instant::compareTo);
        if (first.isEmpty()) return;
        session.query(ANNOUNCE)
                .text("queue", plan.read().definition().what().queue())
                .text("project", plan.read().definition().project())
                .instant("first", first.get())
                .list(row -> row);
    }

    private static void moveCursor(Session session, Schedule schedule, Instant line) throws SQLException {
        session.query(MOVE_CURSOR)
                .text("project", schedule.definition().project())
                .uuid("id", schedule.id().value())
                .instant("line", line)
                .update();
    }

    /** Repeats the work with the partitions it missed. */
    <T> T retrying(Supplier<T> work) {
        return partitions.completing(work);
    }
}
