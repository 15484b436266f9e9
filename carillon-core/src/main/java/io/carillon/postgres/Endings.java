package io.carillon.postgres;

import io.carillon.postgres.sql.HistoryRows;
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
    private static final String FENCES = """
            WITH e AS MATERIALIZED (
              SELECT * FROM unnest(:projects::text[], :ids::uuid[], :attempts::int[], :ages::float8[], :logs::text[], :deliveries::text[],\s""";

    private static final String CELLS = "AS e(project, id, attempt, age, log, delivery, ";

    /** The rows are locked by key and fence first and then written; what follows reads what was written. */
    private static final String HELD = "(:owner, :projects::text[], :ids::uuid[], :attempts::int[], :wait";

    private static final String OF =
            " JOIN e ON e.project = done.project AND e.id = done.id AND e.attempt = done.attempt";

    private static final String STARTED = "carillon.clock() - make_interval(secs => e.age)";

    private static final HistoryRows SUCCEEDED =
            HistoryRows.of("done", "'succeeded'").with("started_at", STARTED).with("owner", "done.owner");

    private static HistoryRows told(String state) {
        return HistoryRows.of("done", state)
                .with("started_at", STARTED)
                .with("owner", "done.owner")
                .with("log", "e.log")
                .with("delivery", "e.delivery");
    }

    // Comments in the texts name what a function writes.
    private static final String SUCCEED = FENCES
            + ":resultCodecs::text[], :results::bytea[], :keeps::bool[]) " + CELLS + "result_codec, result, keep)),"
            + " done AS MATERIALIZED (/* DELETE FROM carillon.run */ SELECT * FROM carillon.end_attempts" + HELD
            + "))\n"
            + told("'succeeded'")
                    .with("codec", "e.result_codec")
                    .with("result", "e.result")
                    .with("payload", "CASE WHEN e.keep THEN done.payload END")
                    .with("payload_codec", "CASE WHEN e.keep THEN done.codec END")
                    .from("done" + OF);

    // The hot path: most runs say nothing, return nothing, and lie where the claim left them. No lock before the write,
    // hence the fence with it, as a hashed lookup (IS TRUE keeps it from becoming a join). The places are a subquery:
    // else the server would plan anew for each run that ends alone. A row that left its place is looked for by its key.
    private static final String SUCCEED_IN_PLACE =
            """
            WITH e AS MATERIALIZED (
              SELECT * FROM unnest(:projects::text[], :ids::uuid[], :attempts::int[], :ages::float8[]) AS e(project, id, attempt, age)),
            done AS (
              DELETE FROM carillon.run r
               WHERE r.ctid = ANY (ARRAY(SELECT unnest(:places::tid[]))) AND r.owner = :owner
                 AND ((r.project, r.id, r.attempt) IN (SELECT project, id, attempt FROM e)) IS TRUE
              RETURNING r.project, r.id, r.day, r.queue, r.class, r.suspect, r.crashes, r.attempt, r.failures, r.due_at, r.planned_at,
                        r.created_at, r.schedule_id, r.parent_id, r.owner, r.origin, r.target, r.target_name, r.key, r.trace)
            """ + SUCCEEDED.from("done FULL" + OF + " WHERE coalesce(done.attempt, 0) > 0");

    private static final String CANCEL = FENCES
            + ":reasons::text[]) " + CELLS + "reason)),"
            + " done AS MATERIALIZED (/* DELETE FROM carillon.run */ SELECT * FROM carillon.end_attempts" + HELD
            + "))\n"
            + told("'cancelled'").with("reason", "e.reason").from("done" + OF);

    private static final String DIE = FENCES
            + ":reasons::text[]) " + CELLS + "reason)),"
            + " done AS MATERIALIZED (/* DELETE FROM carillon.run */ SELECT * FROM carillon.end_attempts" + HELD + ")),"
            + " kept AS ("
            + HistoryRows.Dead.of("done", "'dead'", "e.reason")
                    .with("failures", "done.failures + 1")
                    .from("done" + OF)
            + ")\n"
            + told("'dead'")
                    .with("failures", "done.failures + 1")
                    .with("reason", "e.reason")
                    .from("done" + OF);

    // A snooze has no error and counts no failure.
    private static final String AGAIN = FENCES
            + ":outcomes::text[], :errors::text[], :pauses::float8[]) " + CELLS + "outcome, error, pause)),"
            + " done AS MATERIALIZED (/* UPDATE carillon.run */ SELECT * FROM carillon.retry_attempts" + HELD
            + ", :failed::bool[], :pauses::float8[]))"
            + """
            INSERT INTO carillon.attempt (project, run_id, attempt, day, owner, started_at, ended_at, outcome, error, pause, log, delivery)
            SELECT done.project, done.id, done.attempt,\s""" + HistoryRows.day("done") + ", :owner, " + STARTED + """
                 , carillon.clock(), e.outcome, e.error, make_interval(secs => e.pause), e.log, e.delivery
              FROM done""" + OF;

    // The lease goes on without the node, up to a time.
    private static final String AWAIT = FENCES
            + ":digests::text[], :atMosts::float8[], :pauses::float8[], :keeps::bool[]) "
            + CELLS + "digest, at_most, pause, keep)),"
            + " done AS MATERIALIZED (/* UPDATE carillon.run */ SELECT * FROM carillon.open_attempts" + HELD
            + ", :atMosts::float8[]))"
            + """
            INSERT INTO carillon.awaited (project, run_id, attempt, owner, digest, pause, log, keep_payload, delivery)
            SELECT done.project, done.id, done.attempt, :owner, e.digest, e.pause, e.log, e.keep, e.delivery FROM done""" + OF + """

            ON CONFLICT (project, run_id) DO UPDATE
               SET attempt = excluded.attempt, owner = excluded.owner, digest = excluded.digest, pause = excluded.pause, log = excluded.log,
                   keep_payload = excluded.keep_payload, delivery = excluded.delivery
            """;

    private static final String STILL_HELD = """
            SELECT e.id, e.attempt FROM unnest(:projects::text[], :ids::uuid[], :attempts::int[]) AS e(project, id, attempt),
                   LATERAL (SELECT 1 FROM carillon.run r
                             WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id AND r.attempt = e.attempt AND r.owner = :owner
                             ORDER BY r.id LIMIT 1) mine
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

    /** How long, in seconds, a group of endings waits for rows that another transaction has locked. */
    static final int PATIENCE = 2;

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
        return new Application(owner, true).apply(ended);
    }

    List<Verdict> applyUnlocked(UUID owner, List<Ended> ended) {
        return new Application(owner, false).apply(ended);
    }

    /** One application of endings: what was refused in it, and whether it still waits for locked rows. */
    private final class Application {
        private final UUID owner;
        private final Set<Fence> refused = new HashSet<>();
        private boolean wait;

        Application(UUID owner, boolean wait) {
            this.owner = owner;
            this.wait = wait;
        }

        List<Verdict> apply(List<Ended> ended) {
            Map<Kind, List<Ended>> groups = new EnumMap<>(Kind.class);
            for (Ended one : ended)
                groups.computeIfAbsent(Kind.of(one), k -> new ArrayList<>()).add(one);
            int written = 0;
            for (Map.Entry<Kind, List<Ended>> group : groups.entrySet()) {
                group.getValue().sort(Comparator.comparing(one -> one.attempt().run()));
                written += written(group.getKey(), group.getValue());
                if (group.getKey() == Kind.AGAIN) cancels.settle();
            }
            return written == ended.size() ? Collections.nCopies(written, Verdict.ACCEPTED) : lookedUp(ended);
        }

        /** A row that another transaction has locked does not hold up the others for long: they are written without it. */
        private int written(Kind kind, List<Ended> group) {
            if (wait) {
                try {
                    return splitting(kind, group);
                } catch (StorageException slow) {
                    if (!slow.timedOut()) throw slow;
                    log.info("endings wait for a lock; writing the others size={}", group.size());
                    wait = false;
                }
            }
            return splitting(kind.keyed(), group);
        }

        /** Rows are counted, not listed: only when some are missing is it worth asking which. */
        private List<Verdict> lookedUp(List<Ended> ended) {
            Set<Fence> accepted = accepted(owner, ended);
            List<Ended> moved = ended.stream()
                    .filter(one -> Kind.of(one) == Kind.SUCCEED_IN_PLACE && !accepted.contains(Fence.of(one)))
                    .toList();
            // They were written to since the claim, and lie elsewhere; or an earlier write of ours has ended them since
            // we asked, and this one waited for it.
            if (!moved.isEmpty()) {
                written(Kind.SUCCEED, moved);
                accepted.addAll(accepted(owner, moved));
            }
            List<Ended> missing = ended.stream()
                    .filter(one -> !accepted.contains(Fence.of(one)) && !refused.contains(Fence.of(one)))
                    .toList();
            // Whoever waited for every row knows that those missing are lost.
            Set<Fence> held = wait || missing.isEmpty() ? Set.of() : fences(STILL_HELD, owner, missing);
            return ended.stream()
                    .map(Fence::of)
                    .map(fence -> accepted.contains(fence)
                            ? Verdict.ACCEPTED
                            : held.contains(fence) ? Verdict.LOCKED : Verdict.LEASE_LOST)
                    .toList();
        }

        /** Writes a group and says how many rows were ours. */
        private int splitting(Kind kind, List<Ended> group) {
            try {
                return partitions.completing(() -> database.single(
                        session -> write(wait ? session.atMost(PATIENCE) : session, owner, kind, group, wait)));
            } catch (StorageException failure) {
                if (!failure.rowAtFault()) throw failure;
                if (group.size() == 1) {
                    // It is named and left to its lease: it must not hold up the others.
                    log.error(
                            "ending refused for good run={} error={}",
                            group.get(0).attempt().run(),
                            failure.getMessage());
                    refused.add(Fence.of(group.get(0)));
                    return 0;
                }
                log.warn("group of endings refused kind={} size={} error={}", kind, group.size(), failure.getMessage());
                int half = group.size() / 2;
                return splitting(kind, group.subList(0, half)) + splitting(kind, group.subList(half, group.size()));
            }
        }
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
                .filter(open ->
                        end(open, error == null ? open.succeeded() : open.failed(Text.clean(error), false), true))
                .isPresent();
    }

    /** Fails open attempts that were awaited in vain; what another transaction has locked, or cannot be written, is left to the next time. */
    void giveUp() {
        for (AttemptRows.Awaited open : database.single(
                session -> session.query(AttemptRows.Awaited.IN_VAIN).list(AttemptRows.Awaited::read))) {
            try {
                end(open, open.failed("nobody completed it within its time", true), false);
            } catch (StorageException failure) {
                if (!failure.rowAtFault() && !failure.timedOut()) throw failure;
                log.error(
                        "attempt awaited in vain cannot be ended run={}",
                        open.attempt().run(),
                        failure);
            }
        }
    }

    /** Only what this write did counts: whoever else ends the attempt does so under the same fence. */
    private boolean end(AttemptRows.Awaited open, Ended ended, boolean wait) {
        Kind kind = Kind.of(ended).keyed();
        boolean written = new Application(open.owner(), wait).splitting(kind, List.of(ended)) == 1;
        if (written && kind == Kind.AGAIN) cancels.settle();
        return written;
    }

    /** A failed statement dooms the caller's transaction; the savepoint lets the one failure through that we can mend. */
    boolean applyIn(Connection transaction, UUID owner, Ended ended) {
        Kind kind = Kind.of(ended).keyed();
        try {
            Session session = database.on(transaction);
            Savepoint before = transaction.setSavepoint();
            try {
                return write(session, owner, kind, List.of(ended), true) == 1;
            } catch (SQLException failure) {
                Optional<LocalDate> missing = new StorageException(failure).missingDay();
                if (missing.isEmpty()) throw failure;
                transaction.rollback(before);
                partitions.create(missing.get());
                return write(session, owner, kind, List.of(ended), true) == 1;
            }
        } catch (SQLException failure) {
            throw new StorageException(failure);
        }
    }

    private static int write(Session session, UUID owner, Kind kind, List<Ended> group, boolean wait)
            throws SQLException {
        Query query = fenced(session.query(kind.sql), owner, group)
                .column("ages", "float8", group, one -> DatabaseTime.seconds(one.sinceStart()));
        if (kind == Kind.SUCCEED_IN_PLACE)
            return query.column("places", "tid", group, one -> one.attempt().place())
                    .update();
        query.flag("wait", wait)
                .column("logs", "text", group, Ended::log)
                .column("deliveries", "text", group, Ended::delivery);
        return kind.cells(query, group).update();
    }

    private static Query fenced(Query query, UUID owner, List<Ended> ended) throws SQLException {
        return query.uuid("owner", owner)
                .column("projects", "text", ended, one -> one.attempt().lane().project())
                .column("ids", "uuid", ended, one -> one.attempt().run().value())
                .column("attempts", "int4", ended, one -> one.attempt().number());
    }

    private Set<Fence> accepted(UUID owner, List<Ended> ended) {
        return fences(ACCEPTED, owner, ended);
    }

    private Set<Fence> fences(String question, UUID owner, List<Ended> ended) {
        return new HashSet<>(database.single(
                session -> fenced(session.query(question), owner, ended).list(Fence::read)));
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

        /** Adds the parameters that only some endings have. */
        Query cells(Query query, List<Ended> group) throws SQLException {
            return switch (this) {
                case SUCCEED_IN_PLACE -> query;
                case SUCCEED -> AttemptRows.EndedCells.results(query, group);
                case AGAIN -> AttemptRows.EndedCells.retries(query, group);
                case AWAIT -> AttemptRows.EndedCells.awaited(query, group);
                case DIE, CANCEL -> AttemptRows.EndedCells.reasons(query, group);
            };
        }

        /** The statement that finds its rows by key. */
        Kind keyed() {
            return this == SUCCEED_IN_PLACE ? SUCCEED : this;
        }

        static Kind of(Ended ended) {
            Transition transition = ended.transition();
            if (transition instanceof Transition.Complete complete) {
                boolean bare = complete.result() == null && ended.log() == null && ended.delivery() == null;
                return bare && !ended.keepPayload() && ended.attempt().place() != null ? SUCCEED_IN_PLACE : SUCCEED;
            }
            if (transition instanceof Transition.Retry || transition instanceof Transition.Snooze) return AGAIN;
            if (transition instanceof Transition.Await) return AWAIT;
            if (transition instanceof Transition.Die) return DIE;
            if (transition instanceof Transition.Cancel) return CANCEL;
            throw new AssertionError("no statement for " + transition.getClass().getSimpleName());
        }
    }
}
