package io.carillon.testkit;

import io.carillon.event.Event;
import io.carillon.event.EventId;
import io.carillon.event.EventType;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.value.EventHeaders;
import io.carillon.spi.PayloadCodec;
import io.carillon.testkit.internal.server.Sql;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** The events in the database of a test. */
public final class KitEvents {
    private static final String PUBLISHED = """
            SELECT id, topic, type, key, version, published_at, schedule, planned_at, headers, data
              FROM carillon.event_store
             WHERE topic = :topic AND type = ANY (:types) ORDER BY seq
            """;

    private final Sql sql;
    private final PayloadCodec codec;

    KitEvents(Sql sql, PayloadCodec codec) {
        this.sql = sql;
        this.codec = codec;
    }

    /**
     * Returns the committed events of a type, in the order in which they were published, including those stored under
     * older names. It does not matter whether they were delivered.
     */
    public <T> List<Event<T>> published(EventType<T> type) {
        List<String> names = new ArrayList<>(type.olderReaders().keySet());
        names.add(type.name());
        return sql.call(session -> session.query(PUBLISHED)
                .text("topic", type.topic().name())
                .texts("types", names)
                .list(row -> event(type, row)));
    }

    private <T> Event<T> event(EventType<T> type, Row row) throws SQLException {
        Function<String, T> older = type.olderReaders().get(row.text("type"));
        byte[] data = row.bytes("data");
        return new Event<>(
                new EventId(row.uuid("id")),
                row.text("topic"),
                row.text("type"),
                row.maybeText("key"),
                row.number("version"),
                row.instant("published_at"),
                row.maybeText("schedule"),
                row.maybeInstant("planned_at"),
                EventHeaders.parse(row.maybeText("headers")),
                older == null
                        ? codec.decode(data, type.dataType())
                        : older.apply(new String(data, StandardCharsets.UTF_8)));
    }
}
