package io.carillon.bench.child;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.ServerTime;
import io.carillon.bench.ours.Job;
import java.sql.Connection;
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
        if (open == null || !command.equals("enqueue"))
            throw new IllegalArgumentException("Expected 'open', then 'enqueue', not " + command);
        return open.enqueue(Integer.parseInt(words.get(0)));
    }

    @Override
    public void close() {
        Desk open = desk;
        if (open == null) return;
        open.carillon.close();
        open.pool.close();
    }
}
