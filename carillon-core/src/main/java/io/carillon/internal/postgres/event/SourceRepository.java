package io.carillon.internal.postgres.event;

import io.carillon.event.SourcePartition;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.postgres.partition.Partitions;
import io.carillon.internal.store.event.SourceStore;
import io.carillon.spi.EventSource;
import java.sql.SQLException;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * The positions of sources. A position moves by compare-and-set in the transaction that publishes the events, so of two
 * nodes that have read the same records, one publishes them.
 */
public final class SourceRepository implements SourceStore {
    private static final String NEXT = """
            SELECT next_position FROM carillon.event_source
             WHERE project = :project AND name = :name AND part = :part
            """;

    private static final String ADD = """
            INSERT INTO carillon.event_source (project, name, part, next_position)
            VALUES (:project, :name, :part, :next) ON CONFLICT (project, name, part) DO NOTHING
            """;

    private static final String MOVE = """
            WITH moved AS (
              UPDATE carillon.event_source
                 SET next_position = :to, stored_at = carillon.clock(), blocked_at = NULL, reason = NULL
               WHERE project = :project AND name = :name AND part = :part AND next_position = :from
              RETURNING project, name, part),
            unpublished AS (
              INSERT INTO carillon.event_source_unpublished (project, source, part, position, key, value, reason)
              SELECT m.project, m.name, m.part, p.position, p.key, p.value, p.reason
                FROM moved m, unnest(:positions::int8[], :keys::bytea[], :values::bytea[], :reasons::text[])
                                AS p(position, key, value, reason)
              ON CONFLICT DO NOTHING)
            SELECT 1 AS moved FROM moved
            """;

    private static final String BLOCK = """
            UPDATE carillon.event_source SET blocked_at = coalesce(blocked_at, carillon.clock()), reason = :reason
             WHERE project = :project AND name = :name AND part = :part AND next_position = :position
               AND reason IS DISTINCT FROM :reason
            """;

    private static final String SKIP = """
            UPDATE carillon.event_source SET next_position = next_position + 1, blocked_at = NULL, reason = NULL
             WHERE project = :project AND name = :name AND part = :part AND next_position = :position
            """;

    private static final String LIST = """
            SELECT name, part, next_position, stored_at, blocked_at, reason FROM carillon.event_source
             WHERE project = :project ORDER BY name, part
            """;

    private static final String BLOCKED = """
            SELECT project, name, part, next_position, reason FROM carillon.event_source
             WHERE blocked_at IS NOT NULL ORDER BY project, name, part LIMIT 100
            """;

    private static final String UNPUBLISHED = """
            SELECT part, position, key, value, reason, found_at FROM carillon.event_source_unpublished
             WHERE project = :project AND source = :name ORDER BY found_at, part, position LIMIT :limit
            """;

    private static final String REMOVE_UNPUBLISHED = """
            DELETE FROM carillon.event_source_unpublished
             WHERE project = :project AND source = :name AND part = :part AND position = :position
            """;

    private static final String REMOVE = "DELETE FROM carillon.event_source WHERE project = :project AND name = :name";

    private static final String REMOVE_ALL_UNPUBLISHED =
            "DELETE FROM carillon.event_source_unpublished WHERE project = :project AND source = :name";

    private final Database database;
    private final Partitions partitions;
    private final EventDays days;

    public SourceRepository(Database database, Partitions partitions, EventDays days) {
        this.database = database;
        this.partitions = partitions;
        this.days = days;
    }

    private static Query key(Query query, Partition partition) throws SQLException {
        return query.text("project", partition.project())
                .text("name", partition.source())
                .text("part", partition.part());
    }

    @Override
    public OptionalLong next(Partition partition) {
        return database.single(session -> key(session.query(NEXT), partition)
                .first(row -> OptionalLong.of(row.number("next_position")))
                .orElse(OptionalLong.empty()));
    }

    @Override
    public void add(Partition partition, long next) {
        database.single(session ->
                key(session.query(ADD), partition).number("next", next).update());
    }

    @Override
    public boolean store(Batch batch) {
        days.ensure(batch.events());
        List<EventSource.UnpublishedRecord> unpublished = batch.unpublished();
        return database.transaction(session -> {
            boolean moved = key(session.query(MOVE), batch.partition())
                    .number("from", batch.from())
                    .number("to", batch.to())
                    .column("positions", "int8", unpublished, EventSource.UnpublishedRecord::position)
                    .column("keys", "bytea", unpublished, EventSource.UnpublishedRecord::key)
                    .column("values", "bytea", unpublished, EventSource.UnpublishedRecord::value)
                    .column("reasons", "text", unpublished, EventSource.UnpublishedRecord::reason)
                    .first(row -> true)
                    .orElse(false);
            if (moved && !batch.events().isEmpty())
                new EventRepository(
                                database.within(session.connection(), session.afterCommit()),
                                database,
                                partitions,
                                days)
                        .publish(batch.events(), false);
            return moved;
        });
    }

    @Override
    public void block(Partition partition, long position, String reason) {
        database.single(session -> key(session.query(BLOCK), partition)
                .number("position", position)
                .text("reason", reason)
                .update());
    }

    @Override
    public List<SourcePartition> list(String project) {
        return database.single(session -> session.query(LIST)
                .text("project", project)
                .list(row -> new SourcePartition(
                        row.text("name"),
                        row.text("part"),
                        row.number("next_position"),
                        row.instant("stored_at"),
                        row.maybeInstant("blocked_at"),
                        row.maybeText("reason"))));
    }

    @Override
    public List<Blocked> blocked() {
        return database.single(session -> session.query(BLOCKED)
                .list(row -> new Blocked(
                        new Partition(row.text("project"), row.text("name"), row.text("part")),
                        row.number("next_position"),
                        row.text("reason"))));
    }

    @Override
    public List<SourcePartition.UnpublishedRecord> unpublished(String project, String source, int limit) {
        return database.single(session -> session.query(UNPUBLISHED)
                .text("project", project)
                .text("name", source)
                .number("limit", limit)
                .list(row -> new SourcePartition.UnpublishedRecord(
                        row.text("part"),
                        row.number("position"),
                        row.maybeBytes("key"),
                        row.maybeBytes("value"),
                        row.text("reason"),
                        row.instant("found_at"))));
    }

    @Override
    public boolean removeUnpublished(Partition partition, long position) {
        return database.single(session -> key(session.query(REMOVE_UNPUBLISHED), partition)
                        .number("position", position)
                        .update()
                > 0);
    }

    @Override
    public boolean skip(Partition partition, long position) {
        return database.single(session ->
                key(session.query(SKIP), partition).number("position", position).update() > 0);
    }

    @Override
    public boolean remove(String project, String source) {
        return database.transaction(session -> Stream.of(
                                removed(session.query(REMOVE), project, source),
                                removed(session.query(REMOVE_ALL_UNPUBLISHED), project, source))
                        .mapToInt(count -> count)
                        .sum()
                > 0);
    }

    private static int removed(Query query, String project, String source) throws SQLException {
        return query.text("project", project).text("name", source).update();
    }
}
