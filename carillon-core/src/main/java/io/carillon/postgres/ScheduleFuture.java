package io.carillon.postgres;

import io.carillon.postgres.sql.HistoryRows;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.Stretch;
import io.carillon.schedule.TickPlan;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What an edit does to ticks that exist. The line between past and future is T, the later of the clock and the latest instant that ever started or ended:
 * unstarted ticks beyond T are forgotten and will be planned anew; those up to T keep the definition under which they fell due, or end in the ledger.
 */
final class ScheduleFuture {
    // Nobody starts or cancels what we hold: from here on T is what it is.
    private static final String HOLD = """
            SELECT count(*) FROM (
              SELECT 1 FROM carillon.run
               WHERE schedule_id = :id AND origin = 'tick' AND owner IS NULL AND (attempt = 0 OR start_by < 'infinity') ORDER BY id FOR UPDATE) held
            """;

    // A pause that should have ended did end then. Whatever has its line in the ledger counts, so that no instant gets
    // a second one: a tick cancelled ahead of its
    // time,
    // or, after the clock was set back, a stretch that lies ahead.
    private static final String LINE = """
            SELECT greatest(least(carillon.clock(), :until::timestamptz),
                     (SELECT max(planned_at) FROM carillon.run WHERE schedule_id = :id AND origin IN ('tick', 'backfill') AND attempt > 0
                         AND (owner IS NOT NULL OR start_by = 'infinity')),
                     (SELECT max(planned_at) FROM carillon.run_history
                       WHERE schedule_id = :id AND origin IN ('tick', 'backfill') AND day >= (carillon.clock() AT TIME ZONE 'UTC')::date - 1),
                     (SELECT max(to_at) FROM carillon.ledger_gap
                       WHERE schedule_id = :id AND day >= (carillon.clock() AT TIME ZONE 'UTC')::date - 1)) AS line
            """;

    private static final String FORGET = """
            DELETE FROM carillon.run
             WHERE schedule_id = :id AND origin = 'tick' AND owner IS NULL AND (attempt = 0 OR start_by < 'infinity') AND planned_at > :line
            """;

    private static final String MOVE_CURSOR = """
            UPDATE carillon.schedule SET cursor = :line, adaptive_at = :line, ticks = ticks - :forgotten WHERE project = :project AND id = :id
            """;

    private static final String END =
            """
            WITH gone AS (
              DELETE FROM carillon.run
               WHERE schedule_id = :id AND origin IN ('tick', 'backfill') AND origin = :origin AND owner IS NULL AND (attempt = 0 OR start_by < 'infinity') RETURNING *)
            """ + HistoryRows.of("gone", ":state").with("reason", ":reason").from("gone");

    private static final String COVER = """
            INSERT INTO carillon.ledger_gap (project, schedule_id, from_at, to_at, day, count, state, reason, version)
            VALUES (:project, :id, :from, :to, (:to::timestamptz AT TIME ZONE 'UTC')::date, :count, :state, :reason, :version)
            """;

    private static final String ANNOUNCE = """
            SELECT pg_notify('carillon', 'work ' || :queue || ' ' || :project || ' ' || (extract(epoch FROM :first::timestamptz) * 1000)::bigint)
            """;

    /** Why instants without a run got none. */
    record Fate(String state, String reason) {
        static final Fate PAUSED = new Fate("skipped", "paused");
        static final Fate EXCLUDED = new Fate("skipped", TickPlan.Gap.EXCLUDED);
        static final Fate DELETED = new Fate("cancelled", "schedule deleted");
        static final Fate UNREADABLE = new Fate("missed", "definition could not be read");
    }

    /** A schedule as it was before the lock, and its instants that nobody had planned by then. */
    record Walked(Schedule schedule, Stretch stretch) {
        /** The same stretch up to T, if the schedule is still the same. */
        private Stretch upTo(Schedule now, Instant line) {
            Instant last = stretch.last();
            boolean same = now.version() == schedule.version()
                    && now.progress().cursor().equals(stretch.after())
                    && (last == null || !last.isAfter(line));
            Stretch known = same ? stretch : Stretch.after(now.progress().cursor());
            return known.to(line, now.definition().when());
        }
    }

    /** T. From now until the end of the transaction no tick of this schedule starts. */
    Instant line(Session session, Schedule schedule) throws SQLException {
        session.query(HOLD).uuid("id", schedule.id().value()).list(row -> row);
        Schedule.Pause pause = schedule.pause();
        return session.query(LINE)
                .uuid("id", schedule.id().value())
                .instant("until", pause == null ? null : pause.last())
                .first(row -> row.instant("line"))
                .orElseThrow();
    }

    /** Forgets what lies beyond T and sets the cursor to T; what lies before must be accounted for. */
    void forget(Session session, Schedule schedule, Instant line) throws SQLException {
        int forgotten = session.query(FORGET)
                .uuid("id", schedule.id().value())
                .instant("line", line)
                .update();
        session.query(MOVE_CURSOR)
                .text("project", schedule.definition().project())
                .uuid("id", schedule.id().value())
                .instant("line", line)
                .number("forgotten", forgotten)
                .update();
    }

    /** Ends the ticks up to T that nobody started. */
    void end(Session session, Schedule schedule, Fate fate) throws SQLException {
        end(session, schedule, fate, "tick");
    }

    /** Ends the backfilled runs that nobody started; claims take theirs before or after us. */
    void endBackfills(Session session, Schedule schedule, Fate fate) throws SQLException {
        end(session, schedule, fate, "backfill");
    }

    private static void end(Session session, Schedule schedule, Fate fate, String origin) throws SQLException {
        session.query(END)
                .uuid("id", schedule.id().value())
                .text("origin", origin)
                .text("state", fate.state)
                .text("reason", fate.reason)
                .update();
    }

    /**
     * Records the instants that were never planned, from the cursor up to T; what was walked before the lock is not walked again. Inside a pause the reason is
     * the pause; before one, what lay on excluded dates was excluded.
     */
    void cover(Session session, Schedule schedule, Walked walked, Instant line, Fate fate) throws SQLException {
        if (schedule.runsLeft() == 0) return;
        boolean whole = schedule.paused()
                || schedule.definition().when().bounds().excluded().isEmpty();
        List<TickPlan.Gap> gaps = schedule.unreadable() != null
                ? unknown(schedule, line, fate)
                : whole
                        ? walked.upTo(schedule, line).gap(fate.state, fate.reason)
                        : Stretch.gaps(
                                schedule.definition().when(),
                                schedule.progress().cursor(),
                                line,
                                fate.state,
                                fate.reason);
        for (TickPlan.Gap gap : gaps)
            session.query(COVER)
                    .text("project", schedule.definition().project())
                    .uuid("id", schedule.id().value())
                    .instant("from", gap.from())
                    .instant("to", gap.to())
                    .number("count", gap.count())
                    .text("state", gap.state())
                    .text("reason", gap.reason())
                    .number("version", schedule.version())
                    .update();
    }

    /** Of a schedule that cannot be read only the next instant is known: it stands for all up to T. */
    private static List<TickPlan.Gap> unknown(Schedule schedule, Instant line, Fate fate) {
        Instant next = schedule.progress().nextAt();
        if (next.isAfter(line) || !next.isAfter(schedule.progress().cursor())) return List.of();
        return List.of(new TickPlan.Gap(next, line, 1, fate.state, fate.reason));
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
}
