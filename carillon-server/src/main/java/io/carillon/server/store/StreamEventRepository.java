package io.carillon.server.store;

import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.reads.ServerReads;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Recent events of a project: runs that ended on any node, and changes that callers made. */
public final class StreamEventRepository {
    /** The kind of an event that reports the end of a run; other kinds are actions of the audit log. */
    public static final String RUN_ENDED = "run.ended";

    private static final String NOW = "SELECT carillon.clock() AS now";

    /** The maximum number of events that one query returns. */
    public static final int PAGE_SIZE = 5_000;

    private static final String CHANGES_AFTER = """
            SELECT id, at, action, object FROM carillon.audit
             WHERE project = :project AND id > :lowest AND at >= :at AND (at, id) > (:at, :id)
             ORDER BY at, id LIMIT :limit
            """;

    /** Orders events by time, and ids by their bytes, as PostgreSQL does. */
    private static final Comparator<StreamEvent> ORDER = Comparator.comparing(StreamEvent::at)
            .thenComparing(event -> event.id().getMostSignificantBits(), Long::compareUnsigned)
            .thenComparing(event -> event.id().getLeastSignificantBits(), Long::compareUnsigned);

    /**
     * An event of a project.
     *
     * @param state the state of a run that ended; null for a change
     * @param queue the queue of a run; null for a change
     * @param name the target of a run, or the changed object
     */
    public record StreamEvent(
            UUID id,
            String kind,
            Instant at,
            @Nullable String state,
            @Nullable String queue,
            String name) {}

    /** A position in the order of events: all events up to it are known. */
    public record StreamPosition(Instant at, UUID id) {
        private static final UUID FIRST_ID = new UUID(0, 0);

        /** Returns the position before all events of this instant. */
        public static StreamPosition at(Instant instant) {
            return new StreamPosition(instant, FIRST_ID);
        }
    }

    public Instant now(Session session) throws SQLException {
        return session.query(NOW).first(row -> row.instant("now")).orElseThrow();
    }

    /** Returns the events after a position, in order, at most {@link #PAGE_SIZE}. */
    public List<StreamEvent> eventsAfter(Session session, String project, StreamPosition streamPosition)
            throws SQLException {
        List<StreamEvent> runs =
                ServerReads.endedAfter(session, project, streamPosition.at(), streamPosition.id(), PAGE_SIZE).stream()
                        .map(run -> new StreamEvent(
                                run.id(), RUN_ENDED, run.endedAt(), run.state(), run.queue(), run.targetName()))
                        .toList();
        return Stream.concat(runs.stream(), changesAfter(session, project, streamPosition).stream())
                .sorted(ORDER)
                .limit(PAGE_SIZE)
                .toList();
    }

    /** Ids of the audit log contain their time, so the primary key finds the newest entries. */
    private static List<StreamEvent> changesAfter(Session session, String project, StreamPosition streamPosition)
            throws SQLException {
        // Ids of earlier versions contain the time of a server, which may differ by an hour.
        UUID lowest =
                new UUID(Math.max(0, streamPosition.at().minusSeconds(3_600).toEpochMilli()) << 16, 0);
        return session.query(CHANGES_AFTER)
                .text("project", project)
                .uuid("lowest", lowest)
                .instant("at", streamPosition.at())
                .uuid("id", streamPosition.id())
                .number("limit", PAGE_SIZE)
                .list(row -> new StreamEvent(
                        row.uuid("id"), row.text("action"), row.instant("at"), null, null, row.text("object")));
    }
}
