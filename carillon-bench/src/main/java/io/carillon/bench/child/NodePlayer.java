package io.carillon.bench.child;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.Cpu;
import io.carillon.bench.measure.ServerTime;
import io.carillon.bench.ours.OurDrain;
import io.carillon.bench.ours.Tally;
import java.sql.Connection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A node that empties a queue, one after another as it is told, so that its code is warm when it counts. */
final class NodePlayer implements ChildMain.Player {
    private @Nullable Round round;

    private record Round(HikariDataSource pool, Carillon node, Tally tally, ServerTime time, long cpu) {
        /** The monotonic clock of this process means nothing to another one; the database's does. */
        long serverNanos(long nanoTime) {
            if (nanoTime == 0) return 0;
            return time.nanos() + (nanoTime - System.nanoTime());
        }

        String summary() {
            return String.join(
                    "\t",
                    String.valueOf(tally.present()),
                    String.valueOf(tally.twice()),
                    String.valueOf(serverNanos(tally.firstNanos())),
                    String.valueOf(serverNanos(tally.lastNanos())),
                    String.valueOf(Cpu.ownNanos() - cpu));
        }

        void close() {
            node.close();
            pool.close();
        }
    }

    @Override
    public String answer(String command, List<String> words) throws Exception {
        if (command.equals("start")) return start(words);
        Round now = round;
        if (now == null) throw new IllegalStateException("No node is running: 'start' comes first, not " + command);
        if (command.equals("ended")) return String.valueOf(now.tally.ended());
        if (!command.equals("stop")) throw new IllegalArgumentException("Unknown command " + command);
        String summary = now.summary();
        now.close();
        round = null;
        return summary;
    }

    private String start(List<String> words) throws Exception {
        HikariDataSource pool = ChildMain.address(words).pool(OurDrain.POOL);
        ServerTime time;
        try (Connection connection = pool.getConnection()) {
            time = ServerTime.on(connection);
        }
        Tally tally = new Tally(Integer.parseInt(words.get(3)));
        long cpu = Cpu.ownNanos();
        round = new Round(pool, tally.start(pool), tally, time, cpu);
        return "started";
    }

    @Override
    public void close() {
        Round now = round;
        if (now != null) now.close();
    }
}
