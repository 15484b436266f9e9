package io.carillon.internal.postgres.event;

import io.carillon.event.Relay;
import io.carillon.event.Subscription;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.store.event.EventPosition;
import io.carillon.internal.store.event.RelayStore.Figures;
import io.carillon.internal.store.event.RelayStore.Issue;
import io.carillon.internal.store.event.RelayStore.Name;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Reads the lag and the problems of relays for users. */
final class RelayListing {
    private static final int MAX_FIGURES = 500;

    private static final String LIST = """
            SELECT r.project, r.name, r.topic, r.destination, r.cursor_snapshot, r.cursor_seq, r.sent,
              r.failing_since, r.error,
                   CASE WHEN r.leased_until > carillon.clock() THEN r.owner END AS node,
                   (SELECT count(*) FROM (SELECT 1 FROM carillon.event_relay_held h
                     WHERE h.project = r.project AND h.relay = r.name AND h.state = 'rejected' LIMIT :limit) x)
                     AS rejected,
                   (SELECT count(*) FROM (SELECT 1 FROM carillon.event_relay_held h
                     WHERE h.project = r.project AND h.relay = r.name AND h.blocks
                       AND h.state = 'waiting' LIMIT :limit) x)
                     AS waiting
              FROM carillon.event_relay r
             WHERE r.project = coalesce(:project, r.project) AND r.name = coalesce(:name, r.name) AND r.name > :after
             ORDER BY r.project, r.name LIMIT :relays
            """;

    private static final String LAG = """
            SELECT count(*) AS count, min(published_at) AS oldest
              FROM carillon.some_events_after(:base, :last, :snapshot, :afterSeq, :project, :topic, :limit)
            """;

    // The next snapshot tells how long the cursor has not moved; the events behind it are read only then.
    private static final String ISSUES = """
            SELECT r.project, r.name, r.topic, r.cursor_snapshot, r.cursor_seq, r.error,
                   CASE WHEN r.failing_since < carillon.clock() - interval '30 seconds' THEN r.failing_since END
                     AS failing_since,
                   coalesce(r.leased_until < carillon.clock() - interval '30 seconds', true) AS without_node,
                   EXISTS (SELECT 1 FROM carillon.event_relay_held h
                            WHERE h.project = r.project AND h.relay = r.name AND h.state = 'rejected') AS rejected,
                   EXISTS (SELECT 1 FROM carillon.event_snapshot t
                            WHERE t.snapshot = r.cursor_snapshot + 1
                              AND t.stored_at < carillon.clock() - make_interval(secs => :age)) AS maybe_behind,
                   carillon.clock() - make_interval(secs => :age) AS behind_since
              FROM carillon.event_relay r ORDER BY r.cursor_snapshot LIMIT 1000
            """;

    private final Database database;

    RelayListing(Database database) {
        this.database = database;
    }

    List<Relay> list(String project, String after, int limit) {
        return read(new RelaySelection(project, null, after, limit), (name, relay) -> relay);
    }

    Optional<Relay> find(Name wanted) {
        return read(new RelaySelection(wanted.project(), wanted.name(), "", 1), (name, relay) -> relay).stream()
                .findFirst();
    }

    List<Figures> figures() {
        return read(new RelaySelection(null, null, "", MAX_FIGURES), Figures::new);
    }

    /** Which relays to read: one, those of a project behind a name, or those of all projects. */
    private record RelaySelection(
            @Nullable String project, @Nullable String name, String after, int limit) {}

    private <T> List<T> read(RelaySelection wanted, BiFunction<Name, Relay, T> result) {
        return database.single(session -> {
            long latest = EventReader.SnapshotRange.read(session).latest();
            return session.query(LIST)
                    .text("project", wanted.project())
                    .text("name", wanted.name())
                    .text("after", wanted.after())
                    .number("relays", wanted.limit())
                    .number("limit", Subscription.Lag.MAX_COUNT)
                    .list(row -> {
                        Name name = new Name(row.text("project"), row.text("name"));
                        Relay relay = new Relay(
                                name.name(),
                                row.text("topic"),
                                row.text("destination"),
                                row.maybeUuid("node"),
                                RelayRepository.cursor(row).toString(),
                                lag(session, name, row.text("topic"), RelayRepository.cursor(row), latest),
                                row.number("sent"),
                                row.maybeInstant("failing_since"),
                                row.maybeText("error"),
                                row.number("rejected"),
                                row.number("waiting"));
                        return result.apply(name, relay);
                    });
        });
    }

    private static Subscription.Lag lag(Session session, Name relay, String topic, EventPosition cursor, long latest)
            throws SQLException {
        if (cursor.base() >= latest) return new Subscription.Lag(0, null);
        return RelayRepository.window(session.query(LAG), relay, topic, cursor, latest)
                .number("limit", Subscription.Lag.MAX_COUNT)
                .first(row -> new Subscription.Lag(row.number("count"), row.maybeInstant("oldest")))
                .orElseThrow();
    }

    List<Issue> issues(Duration age) {
        return database.single(session -> {
            long latest = EventReader.SnapshotRange.read(session).latest();
            return session
                    .query(ISSUES)
                    .seconds("age", age)
                    .list(row -> {
                        Name name = new Name(row.text("project"), row.text("name"));
                        @Nullable
                        Instant oldest = row.flag("maybe_behind")
                                ? lag(session, name, row.text("topic"), RelayRepository.cursor(row), latest)
                                        .oldest()
                                : null;
                        return new Issue(
                                name,
                                row.text("topic"),
                                row.flag("without_node"),
                                row.maybeInstant("failing_since"),
                                row.maybeText("error"),
                                oldest != null && oldest.isBefore(row.instant("behind_since")) ? oldest : null,
                                row.flag("rejected"));
                    })
                    .stream()
                    .filter(issue -> issue.withoutNode()
                            || issue.failingSince() != null
                            || issue.oldest() != null
                            || issue.rejected())
                    .toList();
        });
    }
}
