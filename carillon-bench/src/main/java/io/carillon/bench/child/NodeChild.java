package io.carillon.bench.child;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.CpuTime;
import io.carillon.bench.measure.ServerTime;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.bench.ours.RunCounter;
import java.sql.Connection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A child process that starts nodes on command to drain queues. The process stays the same, so that its code is warm
 * when it counts.
 */
final class NodeChild implements ChildMain.CommandHandler {
    private @Nullable RunningNode runningNode;

    private record RunningNode(HikariDataSource pool, Carillon node, RunCounter runCounter, ServerTime time, long cpu) {
        /**
         * Converts a monotonic time of this process to the clock of the database, which other processes can compare.
         */
        long serverNanos(long nanoTime) {
            if (nanoTime == 0) return 0;
            return time.nanos() + (nanoTime - System.nanoTime());
        }

        String summary() {
            return String.join(
                    "\t",
                    String.valueOf(runCounter.distinct()),
                    String.valueOf(runCounter.duplicates()),
                    String.valueOf(serverNanos(runCounter.firstNanos())),
                    String.valueOf(serverNanos(runCounter.lastNanos())),
                    String.valueOf(CpuTime.ownNanos() - cpu));
        }

        void close() {
            node.close();
            pool.close();
        }
    }

    @Override
    public String handle(String command, List<String> words) throws Exception {
        if (command.equals("start")) return start(words);
        RunningNode now = runningNode;
        if (now == null)
            throw new IllegalStateException(
                    "No node is running. The first command must be start (was %s).".formatted(command));
        if (command.equals("ended")) return String.valueOf(now.runCounter.ended());
        if (!command.equals("stop")) throw new IllegalArgumentException("Unknown command: " + command);
        String summary = now.summary();
        now.close();
        runningNode = null;
        return summary;
    }

    private String start(List<String> words) throws Exception {
        HikariDataSource pool = ChildMain.address(words).pool(CarillonDrain.POOL);
        ServerTime time;
        try (Connection connection = pool.getConnection()) {
            time = ServerTime.on(connection);
        }
        RunCounter counter = new RunCounter(Integer.parseInt(words.get(3)));
        long cpu = CpuTime.ownNanos();
        runningNode = new RunningNode(pool, counter.start(pool), counter, time, cpu);
        return "started";
    }

    @Override
    public void close() {
        RunningNode now = runningNode;
        if (now != null) now.close();
    }
}
