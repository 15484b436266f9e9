package io.carillon.bench.measure;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;

/**
 * The database's clock, read without a round trip: mapped to the monotonic clock of this process through the quickest of many questions. The error is at most
 * half of that round trip.
 */
public final class ServerTime {
    private static final int QUESTIONS = 300;
    private static final String SQL = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

    private volatile Mapping mapping = new Mapping(0, 0, Long.MAX_VALUE);

    private record Mapping(long nanoTime, long epochNanos, long roundTrip) {}

    /** Asks the server now. */
    public static ServerTime on(Connection connection) throws SQLException {
        ServerTime time = new ServerTime();
        time.askAgain(connection);
        return time;
    }

    /** Asks once more: over minutes the two clocks may drift. */
    public void askAgain(Connection connection) throws SQLException {
        Mapping best = new Mapping(0, 0, Long.MAX_VALUE);
        try (PreparedStatement question = connection.prepareStatement(SQL)) {
            for (int i = 0; i < QUESTIONS; i++) {
                long before = System.nanoTime();
                long micros = ask(question);
                long roundTrip = System.nanoTime() - before;
                if (roundTrip < best.roundTrip) best = new Mapping(before + roundTrip / 2, micros * 1000, roundTrip);
            }
        }
        mapping = best;
    }

    private static long ask(PreparedStatement question) throws SQLException {
        try (ResultSet answer = question.executeQuery()) {
            answer.next();
            return answer.getLong(1);
        }
    }

    /** Nanoseconds since the epoch on the database's clock. */
    public long nanos() {
        Mapping known = mapping;
        return known.epochNanos + (System.nanoTime() - known.nanoTime);
    }

    public Instant now() {
        return instant(nanos());
    }

    public static Instant instant(long epochNanos) {
        return Instant.ofEpochSecond(
                Math.floorDiv(epochNanos, 1_000_000_000L), Math.floorMod(epochNanos, 1_000_000_000L));
    }

    public static long nanos(Instant instant) {
        return instant.getEpochSecond() * 1_000_000_000L + instant.getNano();
    }

    /** How far off it may be. */
    public Duration error() {
        return Duration.ofNanos(mapping.roundTrip / 2);
    }
}
