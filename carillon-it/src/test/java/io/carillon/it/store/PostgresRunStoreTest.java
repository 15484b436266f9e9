package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresRunStoreTest extends RunStoreContract {
    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    @Override
    StoreBench bench() {
        return BENCH;
    }

    @Test
    void what_another_has_locked_is_skipped_and_not_waited_for() throws SQLException {
        enqueue(Order.mail(), 5);
        try (Connection other = BENCH.open();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.run ORDER BY id LIMIT 2 FOR UPDATE");

            assertThat(claim(node(), 5)).hasSize(3);

            other.rollback();
            other.setAutoCommit(true);
        }
        assertThat(claim(node(), 5)).hasSize(2);
    }
}
