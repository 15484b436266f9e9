package io.carillon.bench.child;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.ServerTime;
import io.carillon.bench.ours.Job;
import io.carillon.bench.raw.RawPickup;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An application without a node: enqueues when it is told, and says when it called and when that returned. */
final class EnqueuerPlayer implements ChildMain.Player {
    private @Nullable Desk desk;

    private record Desk(HikariDataSource pool, Carillon carillon, ServerTime time) {
        String enqueue(int number) {
            long called = time.nanos();
            carillon.enqueue(Job.TYPE, Job.of(number));
            return called + "\t" + time.nanos();
        }
    }

    /** Plain SQL in its place: one row, and a hint of its own. */
    private static String insert(Desk desk, int number) throws SQLException {
        try (Connection connection = desk.pool.getConnection()) {
            long called = desk.time.nanos();
            RawPickup.store(connection, number);
            return called + "\t" + desk.time.nanos();
        }
    }

    @Override
    public String answer(String command, List<String> words) throws Exception {
        if (command.equals("open")) {
            HikariDataSource pool = ChildMain.address(words).pool(2);
            Carillon carillon =
                    Carillon.on(pool).handle(Job.TYPE, (job, run) -> {}).build();
            try (Connection connection = pool.getConnection()) {
                desk = new Desk(pool, carillon, ServerTime.on(connection));
            }
            return "opened";
        }
        Desk open = desk;
        if (open == null) throw new IllegalArgumentException("Expected 'open' first, not " + command);
        int number = Integer.parseInt(words.get(0));
        return switch (command) {
            case "enqueue" -> open.enqueue(number);
            case "insert" -> insert(open, number);
            default -> throw new IllegalArgumentException("Expected 'enqueue' or 'insert', not " + command);
        };
    }

    @Override
    public void close() {
        Desk open = desk;
        if (open == null) return;
        open.carillon.close();
        open.pool.close();
    }
}
