package io.carillon.it.cluster;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.engine.EngineConfig;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.RunContext;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;

/** A node process of the cluster tests. Its handler writes what it does to a table of its own, outside the run's bookkeeping. */
final class ClusterNode {
    /** How long the handler works. */
    record Work(long millis) {}

    static final HandlerType<Work> WORK = HandlerType.of("work", Work.class);

    /** What a handler can do to its node. */
    enum Harm {
        HALT,
        HOG,
        DIVE
    }

    record Poison(Harm harm) {}

    static final HandlerType<Poison> POISON = HandlerType.of("poison", Poison.class);

    /** Soon over, so that a test sees the end of it. */
    static final Retry RETRY =
            Retry.exponential(Duration.ofMillis(50)).cap(Duration.ofMillis(400)).attempts(6);

    static final String SIDE_LOG = """
            CREATE TABLE side_log (run text, attempt int, node text, planned timestamptz, event text, at timestamptz DEFAULT clock_timestamp())
            """;

    private final DataSource dataSource;
    private final String name;

    private ClusterNode(DataSource dataSource, String name) {
        this.dataSource = dataSource;
        this.name = name;
    }

    /** url, user, password, name, milliseconds between beats, milliseconds until death, who plans. */
    public static void main(String[] arguments) throws Exception {
        HikariConfig pool = new HikariConfig();
        pool.setJdbcUrl(arguments[0]);
        pool.setUsername(arguments[1]);
        pool.setPassword(arguments[2]);
        pool.setMaximumPoolSize(12);
        try (HikariDataSource dataSource = new HikariDataSource(pool)) {
            ClusterNode node = new ClusterNode(dataSource, arguments[3]);
            Duration beat = Duration.ofMillis(Long.parseLong(arguments[4]));
            Duration death = Duration.ofMillis(Long.parseLong(arguments[5]));
            Carillon carillon = Carillon.on(dataSource)
                    .nodeName(arguments[3])
                    .config(EngineConfig.defaults()
                            .with(new EngineConfig.Heartbeat(beat, death))
                            .with(EngineConfig.Planning.valueOf(arguments[6])))
                    .handle(WORK, node::work, options -> options.retry(RETRY))
                    .handle(POISON, node::poison, options -> options.retry(RETRY.attempts(2)))
                    .start();
            System.out.println("ready " + arguments[3]);
            new CountDownLatch(1).await();
            carillon.close();
        }
    }

    private void work(Work work, RunContext run) throws Exception {
        log(run, "started");
        try {
            Thread.sleep(work.millis()); // the work itself, not a wait for something
            log(run, "done");
        } catch (InterruptedException told) {
            log(run, "told to stop");
            throw told;
        }
    }

    private void poison(Poison poison, RunContext run) throws Exception {
        log(run, "started");
        switch (poison.harm()) {
            case HALT -> Runtime.getRuntime().halt(1);
            case HOG -> hog();
            case DIVE -> dive(0);
        }
    }

    private static long hog() {
        List<byte[]> all = new ArrayList<>();
        while (all.size() < Integer.MAX_VALUE) all.add(new byte[1 << 20]);
        return all.size();
    }

    private static int dive(int depth) {
        return depth < 0 ? depth : dive(depth + 1) + 1;
    }

    private void log(RunContext run, String event) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement insert = connection.prepareStatement(
                        "INSERT INTO side_log (run, attempt, node, planned, event) VALUES (?, ?, ?, ?, ?)")) {
            insert.setString(1, run.id().toString());
            insert.setInt(2, run.attempt());
            insert.setString(3, name);
            insert.setTimestamp(4, run.plannedAt().map(Timestamp::from).orElse(null));
            insert.setString(5, event);
            insert.executeUpdate();
        }
    }
}
