package io.carillon.internal.postgres.stats;

import io.carillon.Stats.RunStats.Count;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.internal.store.stats.EndingCounter;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Counts the rows that a statement ended, for the statistics, once its transaction has committed. */
public final class EndedRows {
    /** The columns that a statement must return. */
    public static final String COLUMNS = "project, queue, target_name";

    private final EndingCounter counter;

    public EndedRows(EndingCounter counter) {
        this.counter = counter;
    }

    /** Executes a statement that returns {@link #COLUMNS}, and counts its rows. Returns their number. */
    public int count(Session session, Query statement, Count what) throws SQLException {
        return list(session, statement, what, row -> row).size();
    }

    /** Like {@link #count}, but returns the rows. */
    public <T> List<T> list(Session session, Query statement, Count what, Query.RowMapper<T> mapper)
            throws SQLException {
        Map<EndingCounter.Series, Long> ended = new HashMap<>();
        List<T> rows = statement.list(row -> {
            ended.merge(read(row), 1L, Long::sum);
            return mapper.map(row);
        });
        if (!ended.isEmpty())
            session.afterCommit(() -> ended.forEach((series, number) -> counter.count(series, what, number)));
        return rows;
    }

    private static EndingCounter.Series read(Row row) throws SQLException {
        return new EndingCounter.Series(row.text("project"), row.text("queue"), row.text("target_name"));
    }

    /** Counts the end of an attempt that no node executes anymore, because it awaited a callback. */
    public void count(Database database, EndedAttempt ended) {
        Count what = EndingCounter.countOf(ended.transition());
        if (what != null) database.afterCommit(() -> counter.count(EndingCounter.seriesOf(ended.attempt()), what, 1));
    }

    /** Counts planned instants of one schedule, once the transaction has committed. */
    public void count(Session session, EndingCounter.Series series, Count what, long number) {
        if (number > 0) session.afterCommit(() -> counter.count(series, what, number));
    }
}
