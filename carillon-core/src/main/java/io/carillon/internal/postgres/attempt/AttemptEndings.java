package io.carillon.internal.postgres.attempt;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.DatabaseTime;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.postgres.partition.Partitions;
import io.carillon.internal.postgres.sql.HistoryInsert;
import io.carillon.internal.postgres.stats.EndedRows;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.internal.value.ControlCharacters;
import io.carillon.internal.value.TextCleaner;
import io.carillon.run.RunId;
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
 * The endings of attempts, written in groups. A write compares the owner and the attempt number of the run; it does not
 * compare {@code leased_until}. So an attempt may end after its lease has expired, as long as no node has released the
 * run. A group that fails is split in halves down to the row that causes the failure. A row whose owner or attempt
 * number differs is looked up, because an earlier write of this node may have committed although its answer was lost.
 */
public final class AttemptEndings {
    private static final String ENDED_ROWS = """
            WITH e AS MATERIALIZED (
              SELECT * FROM unnest(:projects::text[], :ids::uuid[], :attempts::int[], :ages::float8[], :logs::text[],
                :deliveries::text[],\s""";

    private static final String ENDED_COLUMNS = "AS e(project, id, attempt, age, log, delivery, ";

    /** The functions lock the rows by key and fence, then write them; each insert reads the written rows. */
    private static final String FENCE_ARGUMENTS = "(:owner, :projects::text[], :ids::uuid[], :attempts::int[], :wait";

    private static final String JOIN_ENDED =
            " JOIN e ON e.project = ended.project AND e.id = ended.id AND e.attempt = ended.attempt";

    private static final String STARTED_AT = "carillon.clock() - make_interval(secs => e.age)";

    private static final HistoryInsert SUCCEEDED = HistoryInsert.of("ended", "'succeeded'")
            .with("started_at", STARTED_AT)
            .with("owner", "ended.owner");

    private static HistoryInsert historyWithLog(String state) {
        return HistoryInsert.of("ended", state)
                .with("started_at", STARTED_AT)
                .with("owner", "ended.owner")
                .with("log", "e.log")
                .with("delivery", "e.delivery");
    }

    // The SQL comments name the table that each function writes.
    static final String SUCCEED = ENDED_ROWS
            + ":resultCodecs::text[], :results::bytea[], :keepPayloads::bool[]) " + ENDED_COLUMNS
            + "result_codec, result, keep_payload)),"
            + " ended AS MATERIALIZED (/* DELETE FROM carillon.run */ SELECT * FROM carillon.end_attempts"
            + FENCE_ARGUMENTS
            + "))\n"
            + historyWithLog("'succeeded'")
                    .with("result_codec", "e.result_codec")
                    .with("result", "e.result")
                    .with("payload", "CASE WHEN e.keep_payload THEN ended.payload END")
                    .with("payload_codec", "CASE WHEN e.keep_payload THEN ended.codec END")
                    .from("ended" + JOIN_ENDED);

    // Ticks that publish an event: the ends and the events of a group are one statement. If a new epoch must begin
    // first, nothing is written, and the runs are tried again.
    static final String PUBLISH = ENDED_ROWS
            + ":resultCodecs::text[], :results::bytea[], :keepPayloads::bool[]) " + ENDED_COLUMNS
            + "result_codec, result, keep_payload)),"
            + " ended AS MATERIALIZED (/* DELETE FROM carillon.run */ SELECT r.*, x.xid AS publisher"
            + " FROM (SELECT carillon.event_xid() AS xid OFFSET 0) x CROSS JOIN LATERAL carillon.end_attempts(:owner,"
            + " CASE WHEN x.xid IS NULL THEN '{}' ELSE :projects::text[] END, :ids::uuid[], :attempts::int[], "
            + ":wait) r),"
            + """
            published AS (
              INSERT INTO carillon.event_store (project, id, day, xid, topic, type, key, codec, data, headers,
                schedule, planned_at)
              SELECT ended.project, n.id, carillon.day_of_id(n.id), ended.publisher, p.event ->> 'topic',
                     p.event ->> 'type', p.event ->> 'key', p.event ->> 'codec',
                     decode(p.event ->> 'data', 'base64'), nullif(p.event ->> 'headers', '{}'),
                     p.event ->> 'schedule', ended.planned_at
                FROM ended
                CROSS JOIN LATERAL (SELECT convert_from(ended.payload, 'UTF8')::jsonb AS event OFFSET 0) p
                CROSS JOIN LATERAL (SELECT carillon.id_now(ended.id) AS id OFFSET 0) n
               ORDER BY ended.planned_at, ended.id
              RETURNING 1),
            notifications AS (
              SELECT pg_notify('carillon', 'events ' || mod(pg_current_xact_id()::text::bigint, 100000))
               WHERE EXISTS (SELECT 1 FROM published))
            """
            + historyWithLog("'succeeded'")
                    .from("ended" + JOIN_ENDED + " CROSS JOIN (SELECT count(*) FROM notifications) n");

    // The hot path: most runs have no log and no result, and their row is where the claim left it. No lock precedes the
    // write, so the write itself checks the fence, as a hashed lookup (IS TRUE keeps PostgreSQL from turning it into a
    // join). The row locations are a subquery; otherwise PostgreSQL would plan the statement again for each run that
    // ends alone. A row that has moved is looked up by its key.
    static final String SUCCEED_IN_PLACE =
            """
            WITH e AS MATERIALIZED (
              SELECT * FROM unnest(:projects::text[], :ids::uuid[], :attempts::int[], :ages::float8[])
                AS e(project, id, attempt, age)),
            ended AS (
              DELETE FROM carillon.run r
               WHERE r.ctid = ANY (ARRAY(SELECT unnest(:ctids::tid[]))) AND r.owner = :owner
                 AND ((r.project, r.id, r.attempt) IN (SELECT project, id, attempt FROM e)) IS TRUE
              RETURNING r.project, r.id, r.day, r.queue, r.priority, r.node_deaths, r.crashes, r.attempt, r.failures,
                        r.due_at, r.planned_at, r.created_at, r.schedule_id, r.parent_id, r.owner, r.origin, r.target,
                        r.target_name, r.key, r.headers, r.policy)
            """ + SUCCEEDED.from("ended FULL" + JOIN_ENDED + " WHERE coalesce(ended.attempt, 0) > 0");

    static final String CANCEL = ENDED_ROWS
            + ":reasons::text[]) " + ENDED_COLUMNS + "reason)),"
            + " ended AS MATERIALIZED (/* DELETE FROM carillon.run */ SELECT * FROM carillon.end_attempts"
            + FENCE_ARGUMENTS
            + "))\n"
            + historyWithLog("'cancelled'").with("reason", "e.reason").from("ended" + JOIN_ENDED);

    static final String DIE = ENDED_ROWS
            + ":reasons::text[]) " + ENDED_COLUMNS + "reason)),"
            + " ended AS MATERIALIZED (/* DELETE FROM carillon.run */ SELECT * FROM carillon.end_attempts"
            + FENCE_ARGUMENTS + ")),"
            + " dead_copy AS ("
            + HistoryInsert.DeadRunInsert.of("ended", "'dead'", "e.reason")
                    .with("failures", "ended.failures + 1")
                    .from("ended" + JOIN_ENDED)
            + ")\n"
            + historyWithLog("'dead'")
                    .with("failures", "ended.failures + 1")
                    .with("reason", "e.reason")
                    .from("ended" + JOIN_ENDED);

    // A snooze has no error and does not count as a failure.
    static final String RETRY = ENDED_ROWS
            + ":outcomes::text[], :errors::text[], :retryDelays::float8[]) " + ENDED_COLUMNS
            + "outcome, error, retry_delay_seconds)),"
            + " ended AS MATERIALIZED (/* UPDATE carillon.run */ SELECT * FROM carillon.retry_attempts"
            + FENCE_ARGUMENTS
            + ", :failed::bool[], :retryDelays::float8[]))"
            + """
            INSERT INTO carillon.attempt (project, run_id, attempt, day, owner, started_at, ended_at, outcome, error,
              retry_delay, log, delivery)
            SELECT ended.project, ended.id, ended.attempt,\s""" + HistoryInsert.historyDay("ended")
            + ", :owner, " + STARTED_AT + """
                 , carillon.clock(), e.outcome, e.error, make_interval(secs => e.retry_delay_seconds), e.log, e.delivery
              FROM ended""" + JOIN_ENDED;

    // A workflow waits: nothing is written but its run.
    static final String WAIT = ENDED_ROWS
            + ":outcomes::text[], :errors::text[]) " + ENDED_COLUMNS + "outcome, error))"
            + " SELECT ended.id FROM (/* UPDATE carillon.run */ SELECT * FROM carillon.retry_attempts"
            + FENCE_ARGUMENTS
            + ", :failed::bool[], :retryDelays::float8[])) ended" + JOIN_ENDED;

    // The lease continues without the node until its deadline.
    static final String AWAIT = ENDED_ROWS
            + ":tokenHashes::text[], :leaseSeconds::float8[], :retryDelays::float8[], :keepPayloads::bool[]) "
            + ENDED_COLUMNS + "callback_token_hash, lease_seconds, retry_delay_seconds, keep_payload)),"
            + " ended AS MATERIALIZED (/* UPDATE carillon.run */ SELECT * FROM carillon.keep_attempts_open"
            + FENCE_ARGUMENTS
            + ", :leaseSeconds::float8[]))"
            + """
            INSERT INTO carillon.open_attempt (project, run_id, attempt, owner, callback_token_hash,
              retry_delay_seconds, log, keep_payload, delivery)
            SELECT ended.project, ended.id, ended.attempt, :owner, e.callback_token_hash, e.retry_delay_seconds, e.log,
                   e.keep_payload, e.delivery FROM ended""" + JOIN_ENDED + """

            ON CONFLICT (project, run_id) DO UPDATE
               SET attempt = excluded.attempt, owner = excluded.owner,
                   callback_token_hash = excluded.callback_token_hash,
                   retry_delay_seconds = excluded.retry_delay_seconds, log = excluded.log,
                   keep_payload = excluded.keep_payload, delivery = excluded.delivery
            """;

    private static final String STILL_HELD = """
            SELECT e.id, e.attempt FROM unnest(:projects::text[], :ids::uuid[], :attempts::int[])
              AS e(project, id, attempt),
                   LATERAL (SELECT 1 FROM carillon.run r
                             WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id AND r.attempt = e.attempt
                               AND r.owner = :owner
                             ORDER BY r.id LIMIT 1) held_run
            """;

    private static final String FIND_ACCEPTED = """
            SELECT e.id, e.attempt FROM unnest(:projects::text[], :ids::uuid[], :attempts::int[], :waits::bool[])
              AS e(project, id, attempt, waits)
             WHERE (e.waits AND (SELECT r.owner IS NULL AND r.attempt = e.attempt FROM carillon.run r
                                  WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id ORDER BY r.id LIMIT 1))
                OR EXISTS (SELECT 1 FROM carillon.run_history h
                            WHERE h.id = e.id AND h.project = e.project AND h.attempt = e.attempt AND h.owner = :owner
                              AND h.state <> 'quarantined')
                OR EXISTS (SELECT 1 FROM carillon.attempt a
                            WHERE a.run_id = e.id AND a.project = e.project AND a.attempt = e.attempt
                              AND a.owner = :owner
                              AND a.outcome <> 'crashed')
                OR EXISTS (SELECT 1 FROM carillon.open_attempt w
                            WHERE w.project = e.project AND w.run_id = e.id AND w.attempt = e.attempt
                              AND w.owner = :owner)
            """;

    /** The seconds that a group of endings waits for rows that another transaction has locked. */
    public static final int LOCK_WAIT_SECONDS = 2;

    private static final Logger log = LoggerFactory.getLogger(AttemptEndings.class);
    private final Database database;
    private final Partitions partitions;
    private final CancelRequests cancelRequests;
    private final EndedRows endedRows;

    public AttemptEndings(Database database, Partitions partitions, CancelRequests cancels, EndedRows endedRows) {
        this.database = database;
        this.partitions = partitions;
        this.cancelRequests = cancels;
        this.endedRows = endedRows;
    }

    public List<WriteResult> apply(UUID owner, List<EndedAttempt> ended) {
        return new EndingBatch(owner, true).apply(ended);
    }

    public List<WriteResult> applyUnlocked(UUID owner, List<EndedAttempt> ended) {
        return new EndingBatch(owner, false).apply(ended);
    }

    /** One call of apply: the endings that the database rejected, and whether it still waits for locked rows. */
    private final class EndingBatch {
        private final UUID owner;
        private final Set<Fence> refused = new HashSet<>();
        private boolean waitsForLocks;

        EndingBatch(UUID owner, boolean wait) {
            this.owner = owner;
            this.waitsForLocks = wait;
        }

        List<WriteResult> apply(List<EndedAttempt> ended) {
            Map<EndingKind, List<EndedAttempt>> groups = new EnumMap<>(EndingKind.class);
            for (EndedAttempt one : ended)
                groups.computeIfAbsent(EndingKind.of(one), k -> new ArrayList<>())
                        .add(one);
            int written = 0;
            for (Map.Entry<EndingKind, List<EndedAttempt>> group : groups.entrySet()) {
                group.getValue().sort(Comparator.comparing(one -> one.attempt().run()));
                written += writeGroup(group.getKey(), group.getValue());
                if (group.getKey().isReleased()) cancelRequests.endReleasedRuns();
            }
            return written == ended.size() ? Collections.nCopies(written, WriteResult.ACCEPTED) : lookUpVerdicts(ended);
        }

        /** Writes a group. Rows locked by another transaction delay it briefly, then it is written without them. */
        private int writeGroup(EndingKind kind, List<EndedAttempt> group) {
            if (waitsForLocks) {
                try {
                    return writeInHalves(kind, group);
                } catch (StorageException slow) {
                    if (!slow.isTimeout()) throw slow;
                    log.info("runs are locked by another transaction; writing the other endings size={}", group.size());
                    waitsForLocks = false;
                }
            }
            return writeInHalves(kind.byKey(), group);
        }

        /** Returns the result of each ending. Writes only count rows; if some are missing, queries find them. */
        private List<WriteResult> lookUpVerdicts(List<EndedAttempt> ended) {
            Set<Fence> accepted = findAccepted(owner, ended);
            List<EndedAttempt> moved = ended.stream()
                    .filter(one ->
                            EndingKind.of(one) == EndingKind.SUCCEED_IN_PLACE && !accepted.contains(Fence.of(one)))
                    .toList();
            // These rows have moved since the claim, or an earlier write of this node has ended them since the query
            // above, and this write waited for it.
            if (!moved.isEmpty()) {
                writeGroup(EndingKind.SUCCEED, moved);
                accepted.addAll(findAccepted(owner, moved));
            }
            List<EndedAttempt> missing = ended.stream()
                    .filter(one -> !accepted.contains(Fence.of(one)) && !refused.contains(Fence.of(one)))
                    .toList();
            // A batch that waited for every row has lost the leases of the missing rows.
            Set<Fence> held = waitsForLocks || missing.isEmpty() ? Set.of() : findFences(STILL_HELD, owner, missing);
            return ended.stream()
                    .map(Fence::of)
                    .map(fence -> accepted.contains(fence)
                            ? WriteResult.ACCEPTED
                            : held.contains(fence) ? WriteResult.LOCKED : WriteResult.LEASE_LOST)
                    .toList();
        }

        /** Writes a group and returns the number of rows that still had this owner's fence. */
        private int writeInHalves(EndingKind kind, List<EndedAttempt> group) {
            try {
                return partitions.creatingMissing(() -> database.single(session -> write(
                        waitsForLocks ? session.withTimeout(LOCK_WAIT_SECONDS) : session,
                        owner,
                        kind,
                        group,
                        waitsForLocks)));
            } catch (StorageException failure) {
                if (!failure.isRowError()) throw failure;
                if (group.size() == 1) {
                    // Log the run and leave it to its lease: it must not delay the others.
                    log.error(
                            "end of attempt rejected by the database; the run is tried again when its lease ends"
                                    + " run={} error={}",
                            group.get(0).attempt().run(),
                            ControlCharacters.escape(failure.getMessage()));
                    refused.add(Fence.of(group.get(0)));
                    return 0;
                }
                log.warn(
                        "group of endings rejected; writing its halves separately kind={} size={} error={}",
                        kind,
                        group.size(),
                        ControlCharacters.escape(failure.getMessage()));
                int half = group.size() / 2;
                return writeInHalves(kind, group.subList(0, half))
                        + writeInHalves(kind, group.subList(half, group.size()));
            }
        }
    }

    /** Ends an open attempt for the holder of its callback token; returns false if it is not open. */
    public boolean complete(String project, RunId run, int attempt, String digest, @Nullable String error) {
        return database.single(session -> session.query(AttemptRows.OpenAttempt.BY_ATTEMPT)
                        .text("project", project)
                        .uuid("id", run.value())
                        .number("attempt", attempt)
                        .first(AttemptRows.OpenAttempt::read))
                .filter(open -> digest.equals(open.callbackTokenHash()))
                .filter(open -> end(
                        open, error == null ? open.succeeded() : open.failed(TextCleaner.clean(error), false), true))
                .isPresent();
    }

    /** Fails the open attempts past their time; locked attempts and failed writes are left to the next call. */
    public void failExpired() {
        for (AttemptRows.OpenAttempt open : database.single(
                session -> session.query(AttemptRows.OpenAttempt.EXPIRED).list(AttemptRows.OpenAttempt::read))) {
            try {
                end(open, open.failed("no callback completed the attempt within its time", true), false);
            } catch (StorageException failure) {
                if (!failure.isRowError() && !failure.isTimeout()) throw failure;
                log.error(
                        "open attempt past its time cannot be ended run={}",
                        open.attempt().run(),
                        failure);
            }
        }
    }

    /** Returns whether this write ended the attempt. Any other writer that ends it uses the same fence. */
    private boolean end(AttemptRows.OpenAttempt open, EndedAttempt endedAttempt, boolean wait) {
        EndingKind kind = EndingKind.of(endedAttempt).byKey();
        boolean written = new EndingBatch(open.owner(), wait).writeInHalves(kind, List.of(endedAttempt)) == 1;
        if (written) endedRows.count(database, endedAttempt);
        if (written && kind.isReleased()) cancelRequests.endReleasedRuns();
        return written;
    }

    /**
     * Ends an attempt in the caller's transaction, which a failed statement would abort. The savepoint makes one
     * failure repairable: a missing partition is created and the write repeated.
     */
    public boolean applyIn(Connection transaction, UUID owner, EndedAttempt endedAttempt) {
        EndingKind kind = EndingKind.of(endedAttempt).byKey();
        try {
            Session session = database.on(transaction);
            Savepoint before = transaction.setSavepoint();
            try {
                return write(session, owner, kind, List.of(endedAttempt), true) == 1;
            } catch (SQLException failure) {
                Optional<LocalDate> missing = new StorageException(failure).missingDay();
                if (missing.isEmpty()) throw failure;
                transaction.rollback(before);
                partitions.create(missing.get());
                return write(session, owner, kind, List.of(endedAttempt), true) == 1;
            }
        } catch (SQLException failure) {
            throw new StorageException(failure);
        }
    }

    private static int write(Session session, UUID owner, EndingKind kind, List<EndedAttempt> group, boolean wait)
            throws SQLException {
        Query query = bindFences(session.query(kind.sql()), owner, group)
                .column("ages", "float8", group, one -> DatabaseTime.seconds(one.sinceStart()));
        if (kind == EndingKind.SUCCEED_IN_PLACE)
            return query.column("ctids", "tid", group, one -> one.attempt().rowLocation())
                    .update();
        query.flag("wait", wait)
                .column("logs", "text", group, EndedAttempt::log)
                .column("deliveries", "text", group, EndedAttempt::delivery);
        query = kind.bindParameters(query, group);
        return kind == EndingKind.WAIT ? query.list(row -> row).size() : query.update();
    }

    private static Query bindFences(Query query, UUID owner, List<EndedAttempt> ended) throws SQLException {
        return query.uuid("owner", owner)
                .column("projects", "text", ended, one -> one.attempt().lane().project())
                .column("ids", "uuid", ended, one -> one.attempt().run().value())
                .column("attempts", "int4", ended, one -> one.attempt().number());
    }

    private Set<Fence> findAccepted(UUID owner, List<EndedAttempt> ended) {
        return new HashSet<>(database.single(session -> bindFences(session.query(FIND_ACCEPTED), owner, ended)
                .column("waits", "bool", ended, one -> EndingKind.of(one) == EndingKind.WAIT)
                .list(Fence::read)));
    }

    private Set<Fence> findFences(String question, UUID owner, List<EndedAttempt> ended) {
        return new HashSet<>(database.single(
                session -> bindFences(session.query(question), owner, ended).list(Fence::read)));
    }
}
