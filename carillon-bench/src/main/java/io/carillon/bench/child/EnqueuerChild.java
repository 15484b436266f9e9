package io.carillon.bench.child;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.ServerTime;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.raw.RawPickup;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An application without a node: enqueues on command, and returns the times of the call and of its return. */
final class EnqueuerChild implements ChildMain.CommandHandler {
    private @Nullable Client client;

    private record Client(HikariDataSource pool, Carillon carillon, ServerTime time) {
        String enqueue(int number) {
            long called = time.nanos();
            carillon.enqueue(BenchPayload.TYPE, BenchPayload.of(number));
            return called + "\t" + time.nanos();
        }
    }

    /** Stores a row with plain SQL and a notification, for comparison with an enqueue. */
    private static String insert(Client client, int number) throws SQLException {
        try (Connection connection = client.pool.getConnection()) {
            long called = client.time.nanos();
            RawPickup.store(connection, number);
            return called + "\t" + client.time.nanos();
        }
    }

    @Override
    public String handle(String command, List<String> words) throws Exception {
        if (command.equals("open")) {
            HikariDataSource pool = ChildMain.address(words).pool(2);
            Carillon carillon = Carillon.on(pool)
                    .handle(BenchPayload.TYPE, (benchPayload, run) -> {})
                    .build();
            try (Connection connection = pool.getConnection()) {
                client = new Client(pool, carillon, ServerTime.on(connection));
            }
            return "opened";
        }
        Client open = client;
        if (open == null)
            throw new IllegalArgumentException("The first command must be open (was %s).".formatted(command));
        int number = Integer.parseInt(words.get(0));
        return switch (command) {
            case "enqueue" -> open.enqueue(number);
            case "insert" -> insert(open, number);
            default ->
                throw new IllegalArgumentException(
                        "The command must be enqueue or insert (was %s).".formatted(command));
        };
    }

    @Override
    public void close() {
        Client open = client;
        if (open == null) return;
        open.carillon.close();
        open.pool.close();
    }
}
