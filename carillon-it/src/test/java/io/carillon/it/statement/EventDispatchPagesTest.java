package io.carillon.it.statement;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A dispatch reads the subscriptions of the topics of its events, however many others there are. */
class EventDispatchPagesTest {
    private static final int MAX_MORE_PAGES = 20;

    private static final String SUBSCRIBE = """
            INSERT INTO carillon.project (project) SELECT DISTINCT '%1$s' || i %% 1000 FROM generate_series(0, %2$d) i
            ON CONFLICT DO NOTHING;
            INSERT INTO carillon.event_subscription (project, name, topic_pattern, type_pattern, in_order, target_name,
              queue, priority)
            SELECT CASE WHEN i %% 2 = 0 THEN 'default' ELSE '%1$s' || i %% 1000 END, 's' || i, '%3$s' || i, '*', true,
                   's' || i, 's' || i, 1
              FROM generate_series(0, %2$d) i;
            """;

    private final TestDatabase database = TestDatabase.migrated();

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void the_pages_of_a_dispatch_do_not_depend_on_the_subscriptions_of_other_topics_and_projects() throws SQLException {
        database.execute(SUBSCRIBE.formatted("p", 9, "orders-"));
        try (Connection connection = database.dataSource().getConnection()) {
            int few = GenericPlan.pages(connection, "EventDispatchRepository.DISPATCH");

            database.execute("DELETE FROM carillon.event_subscription");
            database.execute(SUBSCRIBE.formatted("p", 19_999, "orders-"));
            database.execute("VACUUM ANALYZE carillon.event_subscription");

            assertThat(GenericPlan.pages(connection, "EventDispatchRepository.DISPATCH"))
                    .isLessThan(few + MAX_MORE_PAGES);
        }
    }
}
