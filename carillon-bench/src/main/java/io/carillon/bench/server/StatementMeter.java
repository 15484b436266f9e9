package io.carillon.bench.server;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Counts the statements of one database with {@code pg_stat_statements}, without its own. */
public final class StatementMeter implements AutoCloseable {
    private static final String CALLS = """
            SELECT coalesce(sum(s.calls), 0) FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
             WHERE d.datname = current_database() AND s.query NOT LIKE '%pg_stat_%' AND s.query ~* ?
            """;

    // The statement that updates the rows returned by claim_candidates is a claim.
    private static final String CLAIM = "update carillon\\.run.*carillon\\.claim_candidates";

    private final Connection connection;

    public StatementMeter(BenchDatabase database) throws SQLException {
        this.connection = database.connect();
    }

    /** Returns the number of statements so far. */
    public long all() throws SQLException {
        return calls(".");
    }

    /** Returns the number of claims so far. */
    public long claims() throws SQLException {
        return calls(CLAIM);
    }

    private long calls(String pattern) throws SQLException {
        try (PreparedStatement question = connection.prepareStatement(CALLS)) {
            question.setString(1, pattern);
            try (ResultSet answer = question.executeQuery()) {
                answer.next();
                return answer.getLong(1);
            }
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
