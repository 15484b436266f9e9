package io.carillon.bench.measure;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;

/**
 * The clock of the database, read without a round trip: it is mapped to the monotonic clock of this process with the
 * fastest of many queries. The error is at most half of that round trip.
 */
public final class ServerTime {
    private static final int SAMPLES = 300;
    private static final String SQL = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

    private volatile Mapping mapping = new Mapping(0, 0, Long.MAX_VALUE);

    private record Mapping(long nanoTime, long epochNanos, long roundTrip) {}

    /** Reads the clock of the server. */
    public static ServerTime on(Connection connection) throws SQLException {
        ServerTime time = new ServerTime();
        time.refresh(connection);
        return time;
    }

    /** Reads the clock again, because the two clocks may drift over minutes. */
    public void refresh(Connection connection) throws SQLException {
        Mapping best = new Mapping(0, 0, Long.MAX_VALUE);
        try (PreparedStatement question = connection.prepareStatement(SQL)) {
            for (int i = 0; i < SAMPLES; i++) {
                long before = System.nanoTime();
                long micros = query(question);
                long roundTrip = System.nanoTime() - before;
                if (roundTrip < best.roundTrip) best = new Mapping(before + roundTrip / 2, micros * 1000, roundTrip);
            }
        }
        mapping = best;
    }

    private static long query(PreparedStatement question) throws SQLException {
        try (ResultSet answer = question.executeQuery()) {
            answer.next();
            return answer.getLong(1);
        }
    }

    /** Returns the nanoseconds since the epoch on the clock of the database. */
    public long nanos() {
        Mapping current = mapping;
        return current.epochNanos + (System.nanoTime() - current.nanoTime);
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

    /** Returns the maximum error. */
    public Duration error() {
        return Duration.ofNanos(mapping.roundTrip / 2);
    }
}
