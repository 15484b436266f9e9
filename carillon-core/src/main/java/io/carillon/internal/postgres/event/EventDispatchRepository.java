package io.carillon.internal.postgres.event;

import io.carillon.event.EventId;
import io.carillon.event.EventPattern;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.store.event.EventDispatchStore;
import io.carillon.internal.store.event.EventPosition;
import io.carillon.internal.store.event.EventToStore;
import io.carillon.run.RunId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The snapshots, and the places of subscriptions with the runs that they create. */
public final class EventDispatchRepository implements EventDispatchStore {
    static final String STORE_SNAPSHOT = "/* INSERT INTO carillon.event_snapshot, INSERT INTO carillon.event_epoch */"
            + " SELECT carillon.store_event_snapshot() AS snapshot";

    private static final String PLACE = """
            SELECT d.snapshot, d.seq, d.version, p.first IS NOT NULL AS wanted,
                   coalesce(p.first <> p.last, false) AS shared
              FROM carillon.event_dispatch d,
                   (SELECT min(project) AS first, max(project) AS last FROM carillon.event_subscription) p
            """;

    // The furthest behind of each project come first, so that many subscriptions of one project do not hide others.
    private static final String BEHIND = """
            SELECT c.project, c.name, c.replay, s.version, s.topic_pattern, s.type_pattern, c.snapshot, c.seq,
                   c.ends_at_snapshot, s.skipped, oldest.snapshot AS oldest_snapshot
              FROM carillon.event_cursor c
              JOIN carillon.event_subscription s
                ON s.project = c.project AND s.name = c.name AND (c.replay > 0 OR c.replay = s.cursor_number),
                   (SELECT CASE WHEN min(snapshot) > 1 THEN min(snapshot) ELSE 0 END AS snapshot
                      FROM carillon.event_snapshot) oldest
             WHERE s.paused_at IS NULL
               AND NOT EXISTS (SELECT 1 FROM unnest(:withoutProjects::text[], :withoutNames::text[]) AS w(project, name)
                                WHERE w.project = c.project AND w.name = c.name)
             ORDER BY row_number() OVER (PARTITION BY c.project ORDER BY c.snapshot, c.seq, c.name, c.replay),
                      c.snapshot, c.seq, c.project
             LIMIT :limit
            """;

    // Several subscriptions may create their runs in one lane, which is counted once.
    private static final String BACKLOGS = """
            WITH wanted AS MATERIALIZED (
              SELECT s.project, s.name, s.queue, s.priority, s.target_name
                FROM unnest(:projects::text[], :names::text[]) AS n(project, name)
                CROSS JOIN LATERAL (SELECT * FROM carillon.event_subscription
                                     WHERE project = n.project AND name = n.name ORDER BY name LIMIT 1) s),
            lanes AS MATERIALIZED (
              SELECT l.*, (SELECT count(*)
                             FROM (SELECT 1 FROM carillon.run r
                                    WHERE r.project = l.project AND r.queue = l.queue AND r.priority = l.priority
                                      AND r.target_name = l.target_name
                                    ORDER BY r.ready_at LIMIT :atMost) few) AS runs
                FROM (SELECT DISTINCT project, queue, priority, target_name FROM wanted) l)
            SELECT w.project, w.name, l.queue, l.target_name, l.priority, l.runs
              FROM wanted w JOIN lanes l USING (project, queue, priority, target_name)
            """;

    private static final String READ = """
            SELECT * FROM carillon.events_after(:base, :last, :snapshot, :seq, :project, :topic, NULL, :limit)
            """;

    // The place is the row that carries the state: it is written once, if it is unchanged. So this statement sees all
    // subscriptions that had changed when the previous one wrote, and each next one sees at least as much. A
    // subscription whose row another transaction has locked may be about to change; it continues with a cursor of its
    // own, and the place moves on. A subscription loses its cursor in JOIN only, which changes the place.
    private static final String DISPATCH = """
            WITH locked_place AS MATERIALIZED (
              SELECT snapshot, seq FROM carillon.event_dispatch
               WHERE only_row AND snapshot = :snapshot AND seq = :seq AND version = :version FOR UPDATE SKIP LOCKED),
            moved AS (
              UPDATE carillon.event_dispatch d SET snapshot = :toSnapshot, seq = :toSeq
                FROM locked_place
               WHERE d.only_row AND d.snapshot = :snapshot AND d.seq = :seq AND d.version = :version
              RETURNING 1),
            events AS MATERIALIZED (
              SELECT * FROM unnest(:projects::text[], :topics::text[], :types::text[], :events::uuid[], :days::date[])
                WITH ORDINALITY AS e(project, topic, type, id, day, ordinal)
               WHERE EXISTS (SELECT 1 FROM moved)),
            candidates AS MATERIALIZED (
              SELECT t.topic, s.project, s.name, s.cursor_number,
                     string_to_array(replace(replace(s.type_pattern, '_', '\\_'), '*', '%'), ',') AS types
                FROM (SELECT DISTINCT project, topic FROM events) t
                CROSS JOIN LATERAL (
                  SELECT x.project, x.name, x.type_pattern, x.cursor_number FROM carillon.event_subscription x
                   WHERE x.project = t.project AND x.topic_pattern = t.topic
                  UNION ALL
                  SELECT x.project, x.name, x.type_pattern, x.cursor_number FROM carillon.event_subscription x
                   WHERE x.project = t.project AND x.topic_pattern LIKE '%*'
                     AND starts_with(t.topic, left(x.topic_pattern, -1))) s
               WHERE NOT EXISTS (SELECT 1 FROM carillon.event_cursor c
                                  WHERE c.project = s.project AND c.name = s.name AND c.replay = s.cursor_number)),
            locked AS MATERIALIZED (
              SELECT s.project, s.name, s.target_name, s.endpoint, s.mode, s.queue, s.priority, s.in_order, s.skipped,
                     replace(replace(s.topic_pattern, '_', '\\_'), '*', '%') AS topic,
                     string_to_array(replace(replace(s.type_pattern, '_', '\\_'), '*', '%'), ',') AS types
                FROM (SELECT DISTINCT project, name FROM candidates) c
                CROSS JOIN LATERAL (SELECT * FROM carillon.event_subscription
                                     WHERE project = c.project AND name = c.name AND paused_at IS NULL
                                       AND project <> ALL (:separated::text[])
                                     ORDER BY name LIMIT 1 FOR SHARE SKIP LOCKED) s),
            separated AS (
              INSERT INTO carillon.event_cursor (project, name, replay, snapshot, seq)
              SELECT DISTINCT c.project, c.name, c.cursor_number, :snapshot::bigint, :seq::bigint
                FROM candidates c
                JOIN events e ON e.project = c.project AND e.topic = c.topic
                             AND (c.project = ANY (:separated::text[]) OR e.type LIKE ANY (c.types))
               WHERE NOT EXISTS (SELECT 1 FROM locked l WHERE l.project = c.project AND l.name = c.name)
              ON CONFLICT DO NOTHING),
            matches AS (
              SELECT l.*, e.id AS event, e.day AS event_day,
                     row_number() OVER (ORDER BY e.ordinal, l.name) - 1 AS number
                FROM locked l
                JOIN events e ON e.project = l.project AND e.topic LIKE l.topic AND e.type LIKE ANY (l.types)
                             AND e.id <> ALL (l.skipped)),
            stored AS (
            """ + EventRunInsert.from("matches") + """
            )
            SELECT NULL AS project, NULL AS queue, NULL AS gate_key, 0 AS runs FROM moved
            UNION ALL
            SELECT project, queue, gate_key, count(*) FROM stored GROUP BY project, queue, gate_key
            """;

    private static final String JOIN = """
            WITH place AS (
              UPDATE carillon.event_dispatch SET version = version + 1
               WHERE only_row AND snapshot = :snapshot AND seq = :seq AND version = :version
              RETURNING snapshot, seq),
            reached AS MATERIALIZED (
              SELECT c.* FROM place p
                CROSS JOIN unnest(:projects::text[], :names::text[], :replays::int8[]) AS n(project, name, replay)
                CROSS JOIN LATERAL (SELECT project, name, replay FROM carillon.event_cursor
                                     WHERE project = n.project AND name = n.name
                                       AND replay BETWEEN n.replay AND n.replay
                                       AND snapshot = p.snapshot AND seq = p.seq
                                     ORDER BY replay LIMIT 1 FOR UPDATE SKIP LOCKED) c)
            DELETE FROM carillon.event_cursor c USING reached r
             WHERE c.project = r.project AND c.name = r.name AND c.replay = r.replay
               AND c.snapshot = :snapshot AND c.seq = :seq
            """;

    // As in planning, the row that carries the cursor is written once, by its key and only if the cursor has not
    // changed since it was read, and the insert reads its RETURNING. The lock on the subscription keeps its version.
    private static final String DELIVER = """
            WITH cursors AS (
              SELECT * FROM unnest(:projects::text[], :names::text[], :replays::int8[], :versions::int8[],
                :snapshots::int8[], :seqs::int8[], :firsts::int4[], :lasts::int4[])
                WITH ORDINALITY AS w(project, name, replay, version, snapshot, seq, first, last, number)),
            locked AS MATERIALIZED (
              SELECT w.*, s.target_name, s.endpoint, s.mode, s.queue, s.priority, s.in_order FROM cursors w
                CROSS JOIN LATERAL (SELECT * FROM carillon.event_subscription
                                     WHERE project = w.project AND name = w.name AND version = w.version
                                       AND paused_at IS NULL
                                     ORDER BY name LIMIT 1 FOR SHARE SKIP LOCKED) s
                CROSS JOIN LATERAL (SELECT 1 FROM carillon.event_cursor
                                     WHERE project = w.project AND name = w.name
                                       AND replay BETWEEN w.replay AND w.replay
                                       AND snapshot = w.snapshot AND seq = w.seq
                                     ORDER BY replay LIMIT 1 FOR UPDATE SKIP LOCKED) c),
            moved AS (
              UPDATE carillon.event_cursor c SET snapshot = :toSnapshot, seq = :toSeq
                FROM (SELECT * FROM locked LIMIT cardinality(:names::text[])) w
               WHERE c.project = w.project AND c.name = w.name AND c.replay = w.replay
                 AND c.snapshot = w.snapshot AND c.seq = w.seq
              RETURNING w.*),
            matches AS (
              SELECT m.project, m.name, m.target_name, m.endpoint, m.mode, m.queue, m.priority, m.in_order,
                     d.event, d.event_day, row_number() OVER (ORDER BY m.number, d.ordinal) - 1 AS number
                FROM moved m
                CROSS JOIN LATERAL unnest((:events::uuid[])[m.first : m.last], (:days::date[])[m.first : m.last])
                  WITH ORDINALITY AS d(event, event_day, ordinal)),
            stored AS (
            """ + EventRunInsert.from("matches") + """
            )
            SELECT project, name, replay, NULL AS queue, NULL AS gate_key, 0 AS runs FROM moved
            UNION ALL
            SELECT project, NULL, 0, queue, gate_key, count(*) FROM stored GROUP BY project, queue, gate_key
            """;

    private static final String END_REPLAY = """
            DELETE FROM carillon.event_cursor
             WHERE project = :project AND name = :name AND replay = :replay AND replay > 0
               AND snapshot >= ends_at_snapshot AND seq = 9223372036854775807
            """;

    private final Database database;

    public EventDispatchRepository(Database database) {
        this.database = database;
    }

    @Override
    public long storeSnapshot() {
        return database.single(session -> session.query(STORE_SNAPSHOT)
                .first(row -> row.number("snapshot"))
                .orElse(0L));
    }

    @Override
    public Place place() {
        return database.single(session -> session.query(PLACE)
                .first(row -> new Place(
                        new EventPosition(row.number("snapshot"), row.number("seq")),
                        row.number("version"),
                        row.flag("wanted"),
                        row.flag("shared")))
                .orElseThrow());
    }

    @Override
    public List<Cursor> behind(int limit, Collection<Subscriber> without) {
        return database.single(session -> session.query(BEHIND)
                .column("withoutProjects", "text", without, Subscriber::project)
                .column("withoutNames", "text", without, Subscriber::name)
                .number("limit", limit)
                .list(EventDispatchRepository::cursor));
    }

    @Override
    public List<Backlog> backlogs(Collection<Subscriber> subscribers, long atMost) {
        return database.single(session -> session.query(BACKLOGS)
                .column("projects", "text", subscribers, Subscriber::project)
                .column("names", "text", subscribers, Subscriber::name)
                .number("atMost", atMost)
                .list(row -> new Backlog(
                        new Subscriber(row.text("project"), row.text("name")),
                        new Lane(
                                row.text("project"),
                                row.text("queue"),
                                row.text("target_name"),
                                row.number("priority")),
                        row.number("runs"))));
    }

    private static Cursor cursor(Row row) throws SQLException {
        EventPosition cursor = new EventPosition(row.number("snapshot"), row.number("seq"));
        EventPosition oldest = EventPosition.endOf(row.number("oldest_snapshot"));
        return new Cursor(
                name(row),
                row.number("version"),
                EventPattern.of(
                        row.text("topic_pattern"), row.text("type_pattern").split(",")),
                cursor,
                oldest.isAfter(cursor) ? oldest : cursor,
                row.maybeNumber("ends_at_snapshot"),
                row.uuids("skipped").stream().map(EventId::new).collect(Collectors.toUnmodifiableSet()));
    }

    private static Name name(Row row) throws SQLException {
        return new Name(row.text("project"), row.text("name"), row.number("replay"));
    }

    @Override
    public List<Head> read(Window window, int limit) {
        return database.single(session -> session.query(READ)
                .number("base", window.after().base())
                .number("last", window.last())
                .number("snapshot", window.after().snapshot())
                .number("seq", window.after().seq())
                .text("project", window.topic() == null ? null : window.topic().project())
                .text("topic", window.topic() == null ? null : window.topic().name())
                .number("limit", limit)
                .list(EventDispatchRepository::head));
    }

    static Head head(Row row) throws SQLException {
        return new Head(
                new EventPosition(row.number("snapshot"), row.number("seq")),
                row.text("project"),
                new EventId(row.uuid("id")),
                row.text("topic"),
                row.text("type"),
                row.maybeText("key"));
    }

    @Override
    public Optional<List<NewRuns>> dispatch(
            Place from, List<Head> events, EventPosition to, RunId firstRun, Set<String> separated) {
        List<NewRuns> runs = new ArrayList<>();
        int rows = database.single(session -> session.query(DISPATCH)
                .number("snapshot", from.position().snapshot())
                .number("seq", from.position().seq())
                .number("version", from.version())
                .number("toSnapshot", to.snapshot())
                .number("toSeq", to.seq())
                .column("projects", "text", events, Head::project)
                .column("topics", "text", events, Head::topic)
                .column("types", "text", events, Head::type)
                .column("events", "uuid", events, head -> head.id().value())
                .column(
                        "days",
                        "date",
                        events,
                        head -> EventToStore.dayOf(head.id()).toString())
                .texts("separated", separated)
                .text("firstRun", firstRun.value().toString())
                .number("maxCopied", EventRunInsert.MAX_COPIED_BYTES)
                .list(row -> row.maybeText("project") == null || runs.add(newRuns(row)))
                .size());
        return rows == 0 ? Optional.empty() : Optional.of(runs);
    }

    private static NewRuns newRuns(Row row) throws SQLException {
        return new NewRuns(row.text("project"), row.text("queue"), row.maybeText("gate_key"), row.number("runs"));
    }

    @Override
    public int join(Place place, List<Name> subscriptions) {
        return database.single(session -> session.query(JOIN)
                .number("snapshot", place.position().snapshot())
                .number("seq", place.position().seq())
                .number("version", place.version())
                .column("projects", "text", subscriptions, Name::project)
                .column("names", "text", subscriptions, Name::name)
                .column("replays", "int8", subscriptions, Name::replay)
                .update());
    }

    /** The events of a delivery in the arrays of all events: from the first to the last index, counted from 1. */
    private record Slice(Cursor from, int first, int last) {}

    @Override
    public Delivered deliver(List<Delivery> deliveries, EventPosition to, RunId firstRun, boolean copyData) {
        List<EventId> events = new ArrayList<>();
        List<Slice> slices = new ArrayList<>();
        for (Delivery delivery : deliveries) {
            slices.add(new Slice(
                    delivery.from(),
                    events.size() + 1,
                    events.size() + delivery.events().size()));
            events.addAll(delivery.events());
        }
        return database.single(session -> {
            Set<Name> moved = new HashSet<>();
            List<NewRuns> runs = new ArrayList<>();
            session.query(DELIVER)
                    .column(
                            "projects",
                            "text",
                            slices,
                            slice -> slice.from().name().project())
                    .column(
                            "names",
                            "text",
                            slices,
                            slice -> slice.from().name().name())
                    .column(
                            "replays",
                            "int8",
                            slices,
                            slice -> slice.from().name().replay())
                    .column("versions", "int8", slices, slice -> slice.from().version())
                    .column(
                            "snapshots",
                            "int8",
                            slices,
                            slice -> slice.from().cursor().snapshot())
                    .column(
                            "seqs",
                            "int8",
                            slices,
                            slice -> slice.from().cursor().seq())
                    .column("firsts", "int4", slices, Slice::first)
                    .column("lasts", "int4", slices, Slice::last)
                    .column("events", "uuid", events, EventId::value)
                    .column(
                            "days",
                            "date",
                            events,
                            event -> EventToStore.dayOf(event).toString())
                    .number("toSnapshot", to.snapshot())
                    .number("toSeq", to.seq())
                    .text("firstRun", firstRun.value().toString())
                    .number("maxCopied", copyData ? EventRunInsert.MAX_COPIED_BYTES : -1)
                    .list(row -> row.maybeText("name") == null ? runs.add(newRuns(row)) : moved.add(name(row)));
            return new Delivered(moved, runs);
        });
    }

    @Override
    public void endReplay(Name replay) {
        database.single(session -> session.query(END_REPLAY)
                .text("project", replay.project())
                .text("name", replay.name())
                .number("replay", replay.replay())
                .update());
    }
}
