package io.carillon.postgres;

import io.carillon.postgres.backend.Backend;
import io.carillon.run.Lane;
import io.carillon.store.GateName;
import io.carillon.store.Signal;
import io.carillon.store.WakeChannel;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** LISTEN and NOTIFY on one channel. The payload is a word and its arguments; a word this version does not know is passed over. */
final class WakeRepository implements WakeChannel {
    private static final String NOTIFY = "SELECT pg_notify('carillon', m) FROM unnest(:messages::text[]) m";

    /** A server that says nothing for so long is gone: an ear must open and close even on a socket whose other end has vanished. */
    private static final int SILENT_MILLIS = 3_000;

    /** A pooler that is busy may by chance lend the same backend again: three looks in a row were sometimes not enough. */
    private static final int LOOKS = 10;

    private final Database database;
    private final ConnectionSource ears;

    WakeRepository(Database database, ConnectionSource ears) {
        this.database = database;
        this.ears = ears;
    }

    @Override
    public void send(List<Signal> signals) {
        List<String> messages =
                signals.stream().map(WakeRepository::text).distinct().toList();
        database.single(
                session -> session.query(NOTIFY).texts("messages", messages).list(row -> row));
    }

    /** In the session's transaction: sent by its commit. */
    static void tell(Session session, Map<Lane, Instant> work) throws SQLException {
        session.query(NOTIFY)
                .texts(
                        "messages",
                        work.entrySet().stream()
                                .map(one -> text(new Signal.Work(
                                        one.getKey(),
                                        one.getValue(),
                                        ThreadLocalRandom.current().nextInt(Signal.LOTS),
                                        "")))
                                .toList())
                .list(row -> row);
    }

    @Override
    public Optional<Ear> listen() {
        try {
            Connection connection = ears.borrow();
            int manners = connection.getNetworkTimeout();
            try (Statement statement = connection.createStatement()) {
                connection.setAutoCommit(true);
                connection.setNetworkTimeout(Runnable::run, SILENT_MILLIS);
                if (Backend.pooled(connection) && shared(connection)) {
                    connection.setNetworkTimeout(Runnable::run, manners);
                    connection.close();
                    return Optional.empty();
                }
                statement.execute("LISTEN carillon");
                PromptSignals.begin(connection);
                return Optional.of(new PostgresEar(connection, connection.unwrap(PGConnection.class), manners));
            } catch (SQLException | RuntimeException failure) {
                connection.close();
                throw failure;
            }
        } catch (SQLException failure) {
            throw new StorageException(failure);
        }
    }

    /**
     * Whether a pooler lends the backend of this connection to others meanwhile. LISTEN would stay behind on it, and our signals would reach whoever has it
     * next. Busy poolers may hide it from us; then the ear hears nothing, and the next one is asked again.
     */
    private boolean shared(Connection connection) throws SQLException {
        for (int look = 0; look < LOOKS; look++) {
            int mine = Backend.pid(connection);
            boolean shared = database.transaction(session -> {
                int other = Backend.pid(session.connection());
                return other == mine || Backend.pid(connection) != mine;
            });
            if (shared) return true;
        }
        return false;
    }

    private record PostgresEar(Connection connection, PGConnection postgres, int manners) implements Ear {
        @Override
        public List<Signal> await(Duration atMost) {
            try {
                PGNotification[] notes = postgres.getNotifications((int) Math.max(1, atMost.toMillis()));
                List<Signal> signals = new ArrayList<>();
                if (notes != null)
                    for (PGNotification note : notes) parse(note.getParameter()).ifPresent(signals::add);
                return signals;
            } catch (SQLException failure) {
                throw new StorageException(failure);
            }
        }

        @Override
        public void close() {
            try (connection;
                    Statement statement = connection.createStatement()) {
                // The connection goes back to its pool: nobody there must hear our signals.
                PromptSignals.end(connection);
                statement.execute("UNLISTEN *");
                connection.setNetworkTimeout(Runnable::run, manners);
            } catch (SQLException alreadyGone) {
                // A broken connection listens to nothing.
            }
        }
    }

    private static String text(Signal signal) {
        if (signal instanceof Signal.Work work) {
            long at =
                    work.readyAt().isBefore(Instant.EPOCH) ? 0 : work.readyAt().toEpochMilli();
            return String.join(
                    " ",
                    "work",
                    work.lane().queue(),
                    work.lane().project(),
                    Long.toString(at),
                    Integer.toString(work.lot()),
                    work.sender());
        }
        if (signal instanceof Signal.Knock knock)
            return "gate " + knock.gate().project() + " " + knock.gate().name();
        if (signal instanceof Signal.Cancel) return "cancel";
        if (signal instanceof Signal.Plan) return "plan";
        if (signal instanceof Signal.Look) return "look";
        if (signal instanceof Signal.Ping ping) return "ping " + ping.sender();
        throw new AssertionError("no text for " + signal.getClass().getSimpleName());
    }

    static Optional<Signal> parse(String text) {
        String[] words = text.split(" ", -1);
        try {
            return switch (words[0]) {
                case "work" ->
                    Optional.of(new Signal.Work(
                            new Lane(words[1], words[2]),
                            Instant.ofEpochMilli(Long.parseLong(words[3])),
                            words.length > 4 ? Integer.parseInt(words[4]) : 0,
                            words.length > 5 ? words[5] : ""));
                // The name comes last: it is the user's text and may hold spaces.
                case "gate" -> Optional.of(new Signal.Knock(new GateName(words[1], text.split(" ", 3)[2])));
                case "cancel" -> Optional.of(new Signal.Cancel());
                case "plan" -> Optional.of(new Signal.Plan());
                case "look" -> Optional.of(new Signal.Look());
                case "ping" -> Optional.of(new Signal.Ping(words[1]));
                default -> Optional.empty();
            };
        } catch (ArrayIndexOutOfBoundsException | NumberFormatException malformed) {
            return Optional.empty();
        }
    }
}
