package io.carillon.server.store;

import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.reads.ServerReads;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
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

    // The ids of the last hour: see changesAfter.
    private static final String PROJECTS_WITH_CHANGES = """
            SELECT carillon.clock() AS now,
                   ARRAY(SELECT DISTINCT project FROM carillon.audit
                          WHERE project = ANY (:projects::text[]) AND id > :lowest
                            AND at >= carillon.clock() - make_interval(secs => :age)) AS projects
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

    /** The projects that had events recently, at a database time. */
    public record RecentActivity(Instant now, Set<String> projects) {
        public RecentActivity {
            projects = Set.copyOf(projects);
        }
    }

    /** A position in the order of events: all events up to it are known. */
    public record StreamPosition(Instant at, UUID id) {
        private static final UUID FIRST_ID = new UUID(0, 0);

        /** Returns the position before all events of this instant. */
        public static StreamPosition at(Instant instant) {
            return new StreamPosition(instant, FIRST_ID);
        }
    }

    /** Returns which of these projects had events in the last period of this length, with the server's rights. */
    public static RecentActivity activity(Transactions transactions, Set<String> projects, Duration period) {
        UUID lowest = lowestIdAt(transactions.now().minus(period));
        return transactions.runStatementAsServer(session -> {
            Set<String> active = ServerReads.projectsWithEndedRuns(session, projects, period);
            return session.query(PROJECTS_WITH_CHANGES)
                    .texts("projects", projects)
                    .uuid("lowest", lowest)
                    .seconds("age", period)
                    .first(row -> {
                        active.addAll(row.texts("projects"));
                        return new RecentActivity(row.instant("now"), active);
                    })
                    .orElseThrow();
        });
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

    /**
     * The longest time from the id of an entry, which a server creates by its estimate of the database clock, to the
     * entry. All entries of this time are read, so that it must be short in a project with many changes.
     */
    private static final Duration LONGEST_DELAY = Duration.ofMinutes(1);

    /** Ids of the audit log contain their time, so the primary key finds the newest entries. */
    private static List<StreamEvent> changesAfter(Session session, String project, StreamPosition streamPosition)
            throws SQLException {
        return session.query(CHANGES_AFTER)
                .text("project", project)
                .uuid("lowest", lowestIdAt(streamPosition.at()))
                .instant("at", streamPosition.at())
                .uuid("id", streamPosition.id())
                .number("limit", PAGE_SIZE)
                .list(row -> new StreamEvent(
                        row.uuid("id"), row.text("action"), row.instant("at"), null, null, row.text("object")));
    }

    /** Returns an id below those of the entries from this instant on. */
    private static UUID lowestIdAt(Instant instant) {
        return new UUID(Math.max(0, instant.minus(LONGEST_DELAY).toEpochMilli()) << 16, 0);
    }
}
