package io.carillon.internal.postgres.run;

import io.carillon.internal.jdbc.CopyBuffer;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.DatabaseTime;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.postgres.sql.RunInsert;
import io.carillon.internal.postgres.wakeup.PostgresWakeChannel;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.run.PolicyText;
import io.carillon.run.Enqueue;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An insert of many runs by COPY in its binary form: the server reads one part while the client writes the next. Only
 * for runs without a unique key, because COPY cannot handle conflicts.
 */
final class RunCopy {
    private static final int MIN_RUNS = 1_000;

    private static final String CLOCK = "SELECT carillon.clock() AS now";

    private static final String COPY = "COPY carillon.run " + RunInsert.columns() + " FROM STDIN (FORMAT binary)";

    private static final short COLUMNS = 14;

    private final Database database;

    RunCopy(Database database) {
        this.database = database;
    }

    boolean supports(List<NewRun> runs) {
        return runs.size() >= MIN_RUNS
                && runs.stream()
                        .allMatch(run -> run.uniqueKey() == null
                                && run.schedule() == null
                                && run.gate() == null
                                && run.parent() == null
                                && !run.awaits());
    }

    /**
     * Returns false if nothing was stored, because the connection is not a plain PostgreSQL connection or some runs
     * exist already; the caller then inserts the runs in another way, which finds out.
     */
    boolean store(List<NewRun> runs, boolean notifyNodes) {
        try {
            return database.transaction(session -> {
                if (!CopyBuffer.isSupported(session.connection())) return false;
                Instant now =
                        session.query(CLOCK).first(row -> row.instant("now")).orElseThrow();
                copy(session, runs, now);
                if (notifyNodes) PostgresWakeChannel.notifyWork(session, earliestDueTimes(runs, now));
                return true;
            });
        } catch (StorageException failure) {
            // An earlier try was committed and its answer was lost, or the slower way will report the reason of the
            // failure, or this user does not own the table, and COPY does not work with row-level security.
            if (failure.isUniqueViolation() || failure.isUnsupported()) return false;
            throw failure;
        }
    }

    private static Map<Lane, Instant> earliestDueTimes(List<NewRun> runs, Instant now) {
        Map<Lane, Instant> lanes = new LinkedHashMap<>();
        for (NewRun run : runs) lanes.merge(run.lane(), dueAt(run, now), (a, b) -> a.isBefore(b) ? a : b);
        lanes.replaceAll((lane, at) -> at.isAfter(now) ? at : Instant.EPOCH);
        return lanes;
    }

    private static void copy(Session session, List<NewRun> runs, Instant now) throws SQLException {
        CopyBuffer.copy(session.connection(), COPY, copyBuffer -> {
            for (NewRun run : runs) writeRow(copyBuffer, run, now);
        });
    }

    private static void writeRow(CopyBuffer copyBuffer, NewRun run, Instant now) throws SQLException {
        Instant due = dueAt(run, now);
        copyBuffer.columns(COLUMNS);
        copyBuffer.text(run.lane().project());
        copyBuffer.text(run.lane().queue());
        copyBuffer.smallint(run.priority().number());
        copyBuffer.text(run.target().kind());
        copyBuffer.text(run.target().name());
        copyBuffer.text(run.payload().codec());
        copyBuffer.bytes(run.payload().bytes());
        copyBuffer.maybeText(run.headers());
        copyBuffer.maybeText(PolicyText.of(run.policy()));
        copyBuffer.uuid(run.id().value());
        copyBuffer.text(run.origin().text());
        copyBuffer.instant(due);
        copyBuffer.instant(due);
        copyBuffer.date(LocalDate.ofInstant(due.isAfter(now) ? due : now, ZoneOffset.UTC));
    }

    private static Instant dueAt(NewRun run, Instant now) {
        if (run.due() instanceof Enqueue.Due.At at) return DatabaseTime.rounded(at.instant());
        return DatabaseTime.rounded(now.plus(((Enqueue.Due.After) run.due()).delay()));
    }
}
