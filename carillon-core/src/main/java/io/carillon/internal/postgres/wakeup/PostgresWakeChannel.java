package io.carillon.internal.postgres.wakeup;

import io.carillon.internal.jdbc.Backend;
import io.carillon.internal.jdbc.ConnectionSource;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.node.Hint;
import io.carillon.internal.store.node.WakeChannel;
import io.carillon.internal.store.run.GateName;
import io.carillon.run.RunId;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** LISTEN and NOTIFY on one channel. The payload is a word and its arguments; words of other versions are ignored. */
public final class PostgresWakeChannel implements WakeChannel {
    private static final String NOTIFY = "SELECT pg_notify('carillon', m) FROM unnest(:messages::text[]) m";

    // A transaction of its own, which writes no row. Its commit does not wait for the disk: a wake-up that a crash of
    // the server removes is a hint, and a poll finds the work.
    private static final String NOTIFY_NOW = "SELECT pg_notify('carillon', m),"
            + " set_config('synchronous_commit', 'off', true) FROM unnest(:messages::text[]) m";

    /**
     * A server that does not answer for this long is treated as unreachable: a subscription must open and close even if
     * the other end of its socket has disappeared.
     */
    private static final int NETWORK_TIMEOUT_MILLIS = 3_000;

    /** A busy pooler may by chance assign the same backend again: three checks in a row were sometimes not enough. */
    private static final int POOLER_CHECKS = 10;

    private final Database database;
    private final ConnectionSource listenConnections;

    public PostgresWakeChannel(Database database, ConnectionSource listenConnections) {
        this.database = database;
        this.listenConnections = listenConnections;
    }

    @Override
    public void send(List<Hint> hints) {
        List<String> messages =
                hints.stream().map(PostgresWakeChannel::encode).distinct().toList();
        database.single(
                session -> session.query(NOTIFY_NOW).texts("messages", messages).list(row -> row));
    }

    /** Notifies in the session's transaction: the commit sends the notifications. */
    public static void notifyWork(Session session, Map<Lane, Instant> work) throws SQLException {
        session.query(NOTIFY)
                .texts(
                        "messages",
                        work.entrySet().stream()
                                .map(one -> encode(new Hint.Work(
                                        one.getKey(),
                                        one.getValue(),
                                        ThreadLocalRandom.current().nextInt(Hint.RANDOM_BOUND),
                                        "")))
                                .toList())
                .list(row -> row);
    }

    @Override
    public Optional<Subscription> listen() {
        try {
            Connection connection = listenConnections.borrow();
            int networkTimeout = connection.getNetworkTimeout();
            try (Statement statement = connection.createStatement()) {
                connection.setAutoCommit(true);
                connection.setNetworkTimeout(Runnable::run, NETWORK_TIMEOUT_MILLIS);
                if (Backend.isPooled(connection) && isBackendShared(connection)) {
                    connection.setNetworkTimeout(Runnable::run, networkTimeout);
                    connection.close();
                    return Optional.empty();
                }
                statement.execute("LISTEN carillon");
                ImmediateNotifications.enable(connection);
                return Optional.of(
                        new PostgresSubscription(connection, connection.unwrap(PGConnection.class), networkTimeout));
            } catch (SQLException | RuntimeException failure) {
                connection.close();
                throw failure;
            }
        } catch (SQLException failure) {
            throw new StorageException(failure);
        }
    }

    /**
     * Returns whether a pooler gives the backend of this connection to other connections as well. LISTEN would stay on
     * that backend, and its next user would receive the notifications. A busy pooler may hide this; then the
     * subscription receives nothing, and the next one is checked again.
     */
    private boolean isBackendShared(Connection connection) throws SQLException {
        for (int check = 0; check < POOLER_CHECKS; check++) {
            int mine = Backend.pid(connection);
            boolean shared = database.transaction(session -> {
                int other = Backend.pid(session.connection());
                return other == mine || Backend.pid(connection) != mine;
            });
            if (shared) return true;
        }
        return false;
    }

    private record PostgresSubscription(Connection connection, PGConnection postgres, int networkTimeout)
            implements Subscription {
        @Override
        public List<Hint> await(Duration atMost) {
            try {
                PGNotification[] notes = postgres.getNotifications((int) Math.max(1, atMost.toMillis()));
                List<Hint> hints = new ArrayList<>();
                if (notes != null)
                    for (PGNotification note : notes) parse(note.getParameter()).ifPresent(hints::add);
                return hints;
            } catch (SQLException failure) {
                throw new StorageException(failure);
            }
        }

        @Override
        public void close() {
            try (connection;
                    Statement statement = connection.createStatement()) {
                // The connection returns to its pool: its next user must not receive these notifications.
                ImmediateNotifications.disable(connection);
                statement.execute("UNLISTEN *");
                connection.setNetworkTimeout(Runnable::run, networkTimeout);
            } catch (SQLException alreadyGone) {
                // A broken connection receives nothing.
            }
        }
    }

    private static String encode(Hint hint) {
        if (hint instanceof Hint.Work work) {
            long at =
                    work.readyAt().isBefore(Instant.EPOCH) ? 0 : work.readyAt().toEpochMilli();
            return String.join(
                    " ",
                    "work",
                    work.lane().queue(),
                    work.lane().project(),
                    Long.toString(at),
                    Integer.toString(work.randomNumber()),
                    work.sender());
        }
        if (hint instanceof Hint.GateWaiting gateWaiting)
            return "gate " + gateWaiting.gate().project() + " "
                    + gateWaiting.gate().name();
        if (hint instanceof Hint.RunWaiting waiting)
            return "wait " + waiting.project() + " " + waiting.run().value() + " " + waiting.randomNumber();
        if (hint instanceof Hint.Cancel) return "cancel";
        if (hint instanceof Hint.CheckAll) return "check";
        if (hint instanceof Hint.EventsPublished published) return "events " + published.randomNumber();
        if (hint instanceof Hint.Ping ping) return "ping " + ping.sender();
        throw new AssertionError("no text for " + hint.getClass().getSimpleName());
    }

    static Optional<Hint> parse(String text) {
        String[] words = text.split(" ", -1);
        try {
            return switch (words[0]) {
                case "work" ->
                    Optional.of(new Hint.Work(
                            new Lane(words[1], words[2]),
                            Instant.ofEpochMilli(Long.parseLong(words[3])),
                            words.length > 4 ? Integer.parseInt(words[4]) : 0,
                            words.length > 5 ? words[5] : ""));
                // The name comes last: it is the user's text and may contain spaces.
                case "gate" -> Optional.of(new Hint.GateWaiting(new GateName(words[1], text.split(" ", 3)[2])));
                case "wait" ->
                    Optional.of(new Hint.RunWaiting(
                            words[1], new RunId(UUID.fromString(words[2])), Integer.parseInt(words[3])));
                case "cancel" -> Optional.of(new Hint.Cancel());
                case "check" -> Optional.of(new Hint.CheckAll());
                case "events" -> Optional.of(new Hint.EventsPublished(Integer.parseInt(words[1])));
                case "ping" -> Optional.of(new Hint.Ping(words[1]));
                default -> Optional.empty();
            };
        } catch (ArrayIndexOutOfBoundsException | IllegalArgumentException malformed) {
            return Optional.empty();
        }
    }
}
