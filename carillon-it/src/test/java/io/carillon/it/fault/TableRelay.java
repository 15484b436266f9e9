package io.carillon.it.fault;

import io.carillon.event.Event;
import io.carillon.event.Subscribe;
import io.carillon.event.Topic;
import io.carillon.run.Payload;
import io.carillon.spi.EventRelay;
import io.carillon.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * A relay to a table. Like Kafka, it stores events and mark together, a new sender fences all earlier ones, and it
 * rejects events: those with {@code bad} in their data, while the table says so.
 */
final class TableRelay implements EventRelay {
    static final Topic ORDERS = Topic.named("orders");

    private final DataSource source;

    TableRelay(DataSource source) {
        this.source = source;
    }

    static void createTables(TestDatabase database) {
        database.execute("""
                DROP TABLE IF EXISTS destination, destination_state;
                CREATE TABLE destination (number bigserial, id text, key text, data text);
                CREATE TABLE destination_state (sender bigint, mark text, rejects boolean);
                INSERT INTO destination_state VALUES (0, NULL, true)
                """);
    }

    @Override
    public String name() {
        return "orders";
    }

    @Override
    public Topic topic() {
        return ORDERS;
    }

    @Override
    public String destination() {
        return "table";
    }

    @Override
    public Subscribe.Start start() {
        return new Subscribe.Start.Beginning();
    }

    @Override
    public Sender open(String project) throws SQLException {
        try (Connection connection = source.getConnection();
                PreparedStatement statement = connection.prepareStatement(
                        "UPDATE destination_state SET sender = sender + 1 RETURNING sender, mark");
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            return new TableSender(rows.getLong("sender"), Optional.ofNullable(rows.getString("mark")));
        }
    }

    private final class TableSender implements Sender {
        private final long number;
        private final Optional<String> mark;

        TableSender(long number, Optional<String> mark) {
            this.number = number;
            this.mark = mark;
        }

        @Override
        public Optional<String> lastMark() {
            return mark;
        }

        @Override
        public void send(Batch batch) throws SQLException, EventRejectedException {
            try (Connection connection = source.getConnection()) {
                connection.setAutoCommit(false);
                try {
                    boolean rejects = fence(connection, batch.mark());
                    if (rejects) reject(batch.events());
                    try (PreparedStatement insert =
                            connection.prepareStatement("INSERT INTO destination (id, key, data) VALUES (?, ?, ?)")) {
                        for (Event<Payload> event : batch.events()) {
                            insert.setString(1, event.id().toString());
                            insert.setString(2, event.key());
                            insert.setString(3, data(event));
                            insert.executeUpdate();
                        }
                    }
                    connection.commit();
                } finally {
                    connection.rollback();
                    connection.setAutoCommit(true);
                }
            }
        }

        private boolean fence(Connection connection, String newMark) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement(
                    "UPDATE destination_state SET mark = ? WHERE sender = ? RETURNING rejects")) {
                statement.setString(1, newMark);
                statement.setLong(2, number);
                try (ResultSet rows = statement.executeQuery()) {
                    if (!rows.next()) throw new SQLException("a later sender has fenced this one");
                    return rows.getBoolean("rejects");
                }
            }
        }

        private static void reject(List<Event<Payload>> events) throws EventRejectedException {
            for (int i = 0; i < events.size(); i++)
                if (data(events.get(i)).contains("bad")) throw new EventRejectedException(i, "it is bad");
        }

        @Override
        public void close() {}
    }

    private static String data(Event<Payload> event) {
        return new String(event.data().bytes(), StandardCharsets.UTF_8);
    }
}
