package io.carillon.it.statement;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A page of events does not read all events of a large transaction. */
class EventReadPagesTest {
    private static final int EVENTS = 100_000;
    private static final int LIMIT = 1_000;

    /** A page of events reads fewer pages of the database than this for each event. */
    private static final int MAX_PAGES = 6 * LIMIT;

    private static final String PUBLISH = """
            SELECT carillon.store_event_snapshot();
            INSERT INTO carillon.event_store (project, id, day, xid, topic, type, codec, data)
            SELECT 'default', gen_random_uuid(), current_date, carillon.event_xid(), 'orders', 'order.noted',
                   'json', '1'
              FROM generate_series(1, %d);
            """;

    private static final String PARTITION = """
            DO $$ BEGIN
              EXECUTE format('CREATE TABLE IF NOT EXISTS carillon.event_store_%s PARTITION OF carillon.event_store'
                || ' FOR VALUES FROM (%L) TO (%L)', to_char(current_date, 'YYYYMMDD'), current_date, current_date + 1);
            END $$
            """;

    private final TestDatabase database = TestDatabase.migrated();

    @AfterEach
    void close() {
        database.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"NULL, NULL", "'default', 'orders'"})
    void the_second_page_of_a_snapshot_does_not_depend_on_the_size_of_its_transaction(String topic)
            throws SQLException {
        database.execute(PARTITION);
        database.execute(PUBLISH.formatted(1));
        database.execute("ANALYZE carillon.event_store");
        database.execute(PUBLISH.formatted(EVENTS));
        database.execute("SELECT carillon.store_event_snapshot()");
        long snapshot = database.query("SELECT max(snapshot) FROM carillon.event_snapshot")
                .number();
        long seq = database.query("SELECT seq FROM carillon.event_store ORDER BY seq OFFSET " + LIMIT + " LIMIT 1")
                .number();
        String page = "SELECT seq FROM carillon.events_after(%d, %d, %d, %d, %s, NULL, %d)"
                .formatted(snapshot - 1, snapshot, snapshot, seq, topic, LIMIT);
        try (Connection connection = database.dataSource().getConnection()) {
            assertThat(database.query("SELECT count(*) FROM (" + page + ") p WHERE seq > " + seq)
                            .number())
                    .isEqualTo(LIMIT);
            assertThat(GenericPlan.pagesOfQuery(connection, page)).isLessThan(MAX_PAGES);

            database.execute("ANALYZE carillon.event_store");

            assertThat(GenericPlan.pagesOfQuery(connection, page)).isLessThan(MAX_PAGES);
        }
    }
}
