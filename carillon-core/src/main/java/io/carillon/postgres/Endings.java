package io.carillon.postgres;

import io.carillon.run.RunId;
import io.carillon.run.Transition;
import io.carillon.store.Ended;
import io.carillon.store.Verdict;
import io.carillon.value.Text;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends attempts in groups, fenced by owner and number. A group that fails is split in halves down to the row that is at fault; a row that does not
 * match is looked up, because an earlier write of ours may have been accepted while its answer was lost.
 */
final class Endings {
    private static final String ENDED = """
            WITH e AS MATERIALIZED (
              SELECT * FROM unnest(:projects::text[], :ids::uuid[], :attempts::int[], :ages::float8[], :logs::text[], :texts::text[],
                                   :pauses::float8[], :codecs::text[], :results::bytea[])
                AS e(project, id, attempt, age, log, text, pause, codec, result)),
            """ + AttemptRows.HELD;

    private static final String HISTORY_INSERT = """
            INSERT INTO carillon.run_history
              (project, id, day, queue, class, suspect, crashes, attempt, failures, due_at, planned_at, started_at, ended_at, created_at,
               schedule_id, parent_id, owner, state, origin, target, target_name, key, reason, codec, result, log, trace, payload)
            """;

    private static final String HISTORY_COLUMNS = """
            project, id, day, queue, class, suspect, crashes, attempt, failures, due_at, planned_at,
            carillon.clock() - make_interval(secs => age), carillon.clock(), created_at,
            schedule_id, parent_id, owner
            """;

    // What a webhook sent is kept, so that it can be sent again to a receiver that lost it.
    private static final String SUCCEED = ENDED + """
            , done AS (
              DELETE FROM carillon.run r USING held WHERE r.ctid = held.place
              RETURNING r.*, held.age, held.log, held.codec AS result_codec, held.result)
            """ + HISTORY_INSERT + "SELECT " + HISTORY_COLUMNS + """
                 , 'succeeded', origin, target, target_name, key, NULL, result_codec, result, log, trace,
                   CASE WHEN target_name = 'webhook' THEN payload END
              FROM done
            """;

    // The hot path: most runs say nothing, return nothing, and lie where the claim left them. No lock before the write,
    // hence the fence with it, as a hashed lookup (IS TRUE keeps it from becoming a join); what we say of each row
    // comes by a full join, which is never a nested loop. The places are a subquery, so that a plan made for one of
    // them
    // looks no cheaper than one for any number: else the server would make a new one for each run that ends alone.
    private static final String SUCCEED_IN_PLACE = """
            WITH e AS MATERIALIZED (
              SELECT * FROM unnest(:projects::text[], :ids::uuid[], :attempts::int[], :ages::float8[]) AS e(project, id, attempt, age)),
            done AS (
              DELETE FROM carillon.run r
               WHERE r.ctid = ANY (ARRAY(SELECT unnest(:places::tid[]))) AND r.owner = :owner
                 AND ((r.project, r.id, r.attempt) IN (SELECT project, id, attempt FROM e)) IS TRUE
              RETURNING r.project, r.id, r.day, r.queue, r.class, r.suspect, r.crashes, r.attempt, r.failures, r.due_at, r.planned_at,
                        r.created_at, r.schedule_id, r.parent_id, r.owner, r.origin, r.target, r.target_name, r.key, r.trace)
            """ + HISTORY_INSERT + """
            SELECT done.project, done.id, day, queue, class, suspect, crashes, done.attempt, failures, due_at, planned_at,
                   carillon.clock() - make_interval(secs => e.age), carillon.clock(), created_at, schedule_id, parent_id, owner,
                   'succeeded', origin, target, target_name, key, NULL, NULL, NULL, NULL, trace, NULL
              FROM done FULL JOIN e ON e.project = done.project AND e.id = done.id AND e.attempt = done.attempt
             WHERE coalesce(done.attempt, 0) > 0
            """;

    private static final String CANCEL = ENDED + """
            , done AS (
              DELETE FROM carillon.run r USING held WHERE r.ctid = held.place
              RETURNING r.*, held.age, held.log, held.text AS why)
            """ + HISTORY_INSERT + "SELECT " + HISTORY_COLUMNS + """
                 , 'cancelled', origin, target, target_name, key, why, NULL, NULL, log, trace, NULL
              FROM done
            """;

    private static final String DIE = ENDED + """
            , gone AS (
              DELETE FROM carillon.run r USING held WHERE r.ctid = held.place
              RETURNING r.*, held.age, held.log, held.text AS why),
            kept AS (
              INSERT INTO carillon.dead_run
                (project, id, state, queue, class, attempt, failures, crashes, owner, due_at, planned_at, schedule_id, origin, target, target_name,
                 codec, payload, key, gate_key, gate_max, trace, policy, error, died_at)
              SELECT project, id, 'dead', queue, class, attempt, failures + 1, crashes, owner, due_at, planned_at, schedule_id, origin, target,
                     target_name, codec, payload, key, gate_key, gate_max, trace, policy, why, carillon.clock()
                FROM gone)
            """ + HISTORY_INSERT + """
            SELECT project, id, day, queue, class, suspect, crashes, attempt, failures + 1, due_at, planned_at,
                   carillon.clock() - make_interval(secs => age), carillon.clock(), created_at,
                   schedule_id, parent_id, owner, 'dead', origin, target, target_name, key, why, NULL, NULL, log, trace, NULL
              FROM gone
            """;

    // A snooze has no text and counts no failure. The run proved harmless to its node, so it is no suspect any more. By
    // a concurrency key it makes room meanwhile and gets in line for when its pause is over; a strict line waits for
    // it.
    private static final String AGAIN = ENDED + """
            , released AS (
              UPDATE carillon.run r
                 SET owner = NULL, leased_until = NULL, started_at = NULL, suspect = 0, start_by = 'infinity', limited_by = NULL,
                     failures = r.failures + CASE WHEN held.text IS NULL THEN 0 ELSE 1 END,
                     ready_at = CASE WHEN r.gate_key ~ '^(concurrency|rate):' THEN 'infinity' ELSE again.at END,
                     parked = CASE WHEN r.gate_key ~ '^(concurrency|rate):' THEN 'gate' END,
                     gate_at = CASE WHEN r.gate_key ~ '^(concurrency|rate):' THEN again.at END,
                     seq = CASE WHEN r.gate_key ~ '^(concurrency|rate):' THEN (extract(epoch FROM again.at) * 1000000)::bigint END
                FROM held CROSS JOIN LATERAL (SELECT carillon.clock() + make_interval(secs => held.pause) AS at) again
               WHERE r.ctid = held.place
              RETURNING r.project, r.id, r.attempt, r.day, held.age, held.log, held.text, held.pause, held.codec AS outcome)
            INSERT INTO carillon.attempt (project, run_id, attempt, day, owner, started_at, ended_at, outcome, error, pause, log)
            SELECT project, id, attempt, day, :owner, carillon.clock() - make_interval(secs => age), carillon.clock(), outcome, text,
                   make_interval(secs => pause), log
              FROM released
            """;

    // The lease goes on without the node, up to a time: nobody owns it but whoever reads this row, so that the node's
    // further words are refused like
    // anybody's. Of the cells: text is the token's digest, pause how long it is awaited, codec the pause of the retry
    // in seconds, if there is one.
    private static final String AWAIT = ENDED + """
            , open AS (
              UPDATE carillon.run r
                 SET owner = gen_random_uuid(), parked = 'awaiting', ready_at = 'infinity', start_by = 'infinity', suspect = 0,
                     leased_until = carillon.clock() + make_interval(secs => held.pause)
                FROM held WHERE r.ctid = held.place
              RETURNING r.project, r.id, r.attempt, held.text, held.codec, held.log)
            INSERT INTO carillon.awaited (project, run_id, attempt, owner, digest, pause, log)
            SELECT project, id, attempt, :owner, text, codec::float8, log FROM open
            ON CONFLICT (project, run_id) DO UPDATE
               SET attempt = excluded.attempt, owner = excluded.owner, digest = excluded.digest, pause = excluded.pause, log = excluded.log
            """;

    private static final String ACCEPTED = """
            SELECT e.id, e.attempt FROM unnest(:projects::text[], :ids::uuid[], :attempts::int[]) AS e(project, id, attempt)
             WHERE EXISTS (SELECT 1 FROM carillon.run_history h
                            WHERE h.id = e.id AND h.project = e.project AND h.attempt = e.attempt AND h.owner = :owner
                              AND h.state <> 'quarantined')
                OR EXISTS (SELECT 1 FROM carillon.attempt a
                            WHERE a.run_id = e.id AND a.project = e.project AND a.attempt = e.attempt AND a.owner = :owner
                              AND a.outcome <> 'crashed')
                OR EXISTS (SELECT 1 FROM carillon.awaited w
                            WHERE w.project = e.project AND w.run_id = e.id AND w.attempt = e.attempt AND w.owner = :owner)
            """;

    private static final Logger log = LoggerFactory.getLogger(Endings.class);
    private final Database database;
    private final Partitions partitions;
    private final CancelOrders cancels;

    Endings(Database database, Partitions partitions, CancelOrders cancels) {
        this.database = database;
        this.partitions = partitions;
        this.cancels = cancels;
    }

    List<Verdict> apply(UUID owner, List<Ended> ended) {
        Map<Kind, List<Ended>> groups = new EnumMap<>(Kind.class);
        for (Ended one : ended)
            groups.computeIfAbsent(Kind.of(one), k -> new ArrayList<>()).add(one);
        int written = 0;
        for (Map.Entry<Kind, List<Ended>> group : groups.entrySet()) {
            group.getValue().sort(Comparator.comparing(one -> one.attempt().run()));
            written += splitting(owner, group.getKey(), group.getValue());
            if (group.getKey() == Kind.AGAIN) cancels.settle();
        }
        return written == ended.size() ? Collections.nCopies(written, Verdict.ACCEPTED) : lookedUp(owner, ended);
    }

    /** Rows are counted, not listed: only when some are missing is it worth asking which. */
    private List<Verdict> lookedUp(UUID owner, List<Ended> ended) {
        Set<Fence> accepted = accepted(owner, ended);
        List<Ended> moved = ended.stream()
                .filter(one -> Kind.of(one) == Kind.SUCCEED_IN_PLACE && !accepted.contains(Fence.of(one)))
                .toList();
        // They were written to since the claim, and lie elsewhere.
        if (!moved.isEmpty() && splitting(owner, Kind.SUCCEED, moved) > 0) accepted.addAll(accepted(owner, moved));
        return ended.stream()
                .map(one -> accepted.contains(Fence.of(one)) ? Verdict.ACCEPTED : Verdict.LEASE_LOST)
                .toList();
    }

    /** What a row answers for: an older attempt of the same run may be in the same group. */
    private record Fence(RunId run, int attempt) {
        static Fence of(Ended ended) {
            return new Fence(ended.attempt().run(), ended.attempt().number());
        }

        static Fence read(Row row) throws SQLException {
            return new Fence(AttemptRows.runId(row, "id"), row.integer("attempt"));
        }
    }

    /** Ends an open attempt for whoever has its token; false: nobody awaits that, or not any more. */
    boolean complete(String project, RunId run, int attempt, String digest, @Nullable String error) {
        return database.single(session -> session.query(AttemptRows.Awaited.ONE)
                        .text("project", project)
                        .uuid("id", run.value())
                        .number("attempt", attempt)
                        .first(AttemptRows.Awaited::read))
                .filter(open -> digest.equals(open.digest()))
                .filter(open -> end(open, error == null ? open.succeeded() : open.failed(Text.clean(error), false)))
                .isPresent();
    }

    /** Fails open attempts that were awaited in vain. */
    void giveUp() {
        database.single(session -> session.query(AttemptRows.Awaited.IN_VAIN).list(AttemptRows.Awaited::read))
                .forEach(open -> end(open, open.failed("nobody completed it within its time", true)));
    }

    /** Only what this write did counts: whoever else ends the attempt does so under the same fence. */
    private boolean end(AttemptRows.Awaited open, Ended ended) {
        Kind kind = Kind.of(ended) == Kind.SUCCEED_IN_PLACE ? Kind.SUCCEED : Kind.of(ended);
        boolean written = splitting(open.owner(), kind, List.of(ended)) == 1;
        if (written && kind == Kind.AGAIN) cancels.settle();
        return written;
    }

    /** A failed statement dooms the caller's transaction; the savepoint lets the one failure through that we can mend. */
    boolean applyIn(Connection transaction, UUID owner, Ended ended) {
        Kind kind = Kind.of(ended) == Kind.SUCCEED_IN_PLACE ? Kind.SUCCEED : Kind.of(ended);
        try {
            Session session = database.on(transaction);
            Savepoint before = transaction.setSavepoint();
            try {
                return write(session, owner, kind, List.of(ended)) == 1;
            } catch (SQLException failure) {
                Optional<LocalDate> missing = new StorageException(failure).missingDay();
                if (missing.isEmpty()) throw failure;
                transaction.rollback(before);
                partitions.create(missing.get());
                return write(session, owner, kind, List.of(ended)) == 1;
            }
        } catch (SQLException failure) {
            throw new StorageException(failure);
        }
    }

    /** Writes a group and says how many rows were ours. */
    private int splitting(UUID owner, Kind kind, List<Ended> group) {
        try {
            return partitions.completing(() -> database.single(session -> write(session, owner, kind, group)));
        } catch (StorageException failure) {
            if (!failure.rowAtFault()) throw failure;
            if (group.size() == 1) {
                // It is named and left to its lease: it must not hold up the others.
                log.error(
                        "ending refused for good run={} error={}",
                        group.get(0).attempt().run(),
                        failure.getMessage());
                return 0;
            }
            log.warn("group of endings refused kind={} size={} error={}", kind, group.size(), failure.getMessage());
            int half = group.size() / 2;
            return splitting(owner, kind, group.subList(0, half))
                    + splitting(owner, kind, group.subList(half, group.size()));
        }
    }

    private static int write(Session session, UUID owner, Kind kind, List<Ended> group) throws SQLException {
        Query query = session.query(kind.sql)
                .uuid("owner", owner)
                .column("projects", "text", group, one -> one.attempt().lane().project())
                .column("ids", "uuid", group, one -> one.attempt().run().value())
                .column("attempts", "int4", group, one -> one.attempt().number())
                .column("ages", "float8", group, one -> DatabaseTime.seconds(one.sinceStart()));
        if (kind == Kind.SUCCEED_IN_PLACE)
            return query.column("places", "tid", group, one -> one.attempt().place())
                    .update();
        return query.column("logs", "text", group, Ended::log)
                .column("texts", "text", group, one -> EndedCells.text(one.transition()))
                .column("pauses", "float8", group, one -> EndedCells.pause(one.transition()))
                .column("codecs", "text", group, one -> EndedCells.codec(one.transition()))
                .column("results", "bytea", group, one -> EndedCells.result(one.transition()))
                .update();
    }

    private Set<Fence> accepted(UUID owner, List<Ended> ended) {
        return new HashSet<>(database.single(session -> session.query(ACCEPTED)
                .uuid("owner", owner)
                .column("projects", "text", ended, one -> one.attempt().lane().project())
                .column("ids", "uuid", ended, one -> one.attempt().run().value())
                .column("attempts", "int4", ended, one -> one.attempt().number())
                .list(Fence::read)));
    }

    private enum Kind {
        SUCCEED_IN_PLACE(Endings.SUCCEED_IN_PLACE),
        SUCCEED(Endings.SUCCEED),
        AGAIN(Endings.AGAIN),
        DIE(Endings.DIE),
        AWAIT(Endings.AWAIT),
        CANCEL(Endings.CANCEL);

        private final String sql;

        Kind(String sql) {
            this.sql = sql;
        }

        static Kind of(Ended ended) {
            Transition transition = ended.transition();
            if (transition instanceof Transition.Complete complete)
                return complete.result() == null
                                && ended.log() == null
                                && ended.attempt().place() != null
                        ? SUCCEED_IN_PLACE
                        : SUCCEED;
            if (transition instanceof Transition.Retry || transition instanceof Transition.Snooze) return AGAIN;
            if (transition instanceof Transition.Await) return AWAIT;
            if (transition instanceof Transition.Die) return DIE;
            if (transition instanceof Transition.Cancel) return CANCEL;
            throw new AssertionError("no statement for " + transition.getClass().getSimpleName());
        }
    }

    /** The cells of one row of {@code ENDED}; which of them a statement reads is its own affair. */
    private static final class EndedCells {
        static @Nullable String text(Transition transition) {
            if (transition instanceof Transition.Retry retry) return retry.error();
            if (transition instanceof Transition.Die die) return die.error();
            if (transition instanceof Transition.Cancel cancel) return cancel.reason();
            if (transition instanceof Transition.Await await) return await.digest();
            return null;
        }

        static @Nullable Double pause(Transition transition) {
            if (transition instanceof Transition.Retry retry) return DatabaseTime.seconds(retry.pause());
            if (transition instanceof Transition.Snooze snooze) return DatabaseTime.seconds(snooze.pause());
            if (transition instanceof Transition.Await await) return DatabaseTime.seconds(await.atMost());
            return null;
        }

        static @Nullable String codec(Transition transition) {
            if (transition instanceof Transition.Complete complete && complete.result() != null)
                return complete.result().codec();
            if (transition instanceof Transition.Retry retry) return retry.timedOut() ? "timed-out" : "failed";
            if (transition instanceof Transition.Await await && await.pause() != null)
                return Double.toString(DatabaseTime.seconds(await.pause()));
            return transition instanceof Transition.Snooze ? "snoozed" : null;
        }

        static byte @Nullable [] result(Transition transition) {
            return transition instanceof Transition.Complete complete && complete.result() != null
                    ? complete.result().bytes()
                    : null;
        }
    }
}
