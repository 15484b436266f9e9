package io.carillon.it.cluster;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.NodeConfig;
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

/** A node process of the cluster tests. Its handlers record their calls in a separate table, the side log. */
final class ClusterNode {
    /** The payload: how long the handler works. */
    record Work(long millis) {}

    static final HandlerType<Work> WORK = HandlerType.of("work", Work.class);

    /** The effect of a poison run on its node. */
    enum PoisonEffect {
        HALT,
        EXHAUST_MEMORY,
        OVERFLOW_STACK
    }

    record Poison(PoisonEffect poisonEffect) {}

    static final HandlerType<Poison> POISON = HandlerType.of("poison", Poison.class);

    /** Short delays, so that a test sees the last attempt. */
    static final Retry RETRY =
            Retry.exponential(Duration.ofMillis(50)).cap(Duration.ofMillis(400)).attempts(6);

    static final String SIDE_LOG = """
            CREATE TABLE side_log (run text, attempt int, node text, planned timestamptz, event text,
              at timestamptz DEFAULT clock_timestamp())
            """;

    private final DataSource dataSource;
    private final String name;

    private ClusterNode(DataSource dataSource, String name) {
        this.dataSource = dataSource;
        this.name = name;
    }

    /** Arguments: URL, user, password, name, heartbeat interval and death timeout in milliseconds, planning mode. */
    public static void main(String[] arguments) throws Exception {
        HikariConfig pool = new HikariConfig();
        pool.setJdbcUrl(arguments[0]);
        pool.setUsername(arguments[1]);
        pool.setPassword(arguments[2]);
        pool.setMaximumPoolSize(12);
        try (HikariDataSource dataSource = new HikariDataSource(pool)) {
            ClusterNode node = new ClusterNode(dataSource, arguments[3]);
            Duration heartbeatInterval = Duration.ofMillis(Long.parseLong(arguments[4]));
            Duration deathTimeout = Duration.ofMillis(Long.parseLong(arguments[5]));
            Carillon carillon = Carillon.on(dataSource)
                    .nodeName(arguments[3])
                    .config(NodeConfig.defaults()
                            .heartbeat(heartbeatInterval, deathTimeout)
                            .planning(NodeConfig.Planning.valueOf(arguments[6])))
                    .handle(WORK, node::work, HandlerOptions.defaults().retry(RETRY))
                    .handle(POISON, node::poison, HandlerOptions.defaults().retry(RETRY.attempts(2)))
                    .start();
            System.out.println("ready " + arguments[3]);
            new CountDownLatch(1).await();
            carillon.close();
        }
    }

    private void work(Work work, RunContext run) throws Exception {
        log(run, "started");
        try {
            Thread.sleep(work.millis()); // the duration of the work
            log(run, "done");
        } catch (InterruptedException interrupted) {
            log(run, "interrupted");
            throw interrupted;
        }
    }

    private void poison(Poison poison, RunContext run) throws Exception {
        log(run, "started");
        switch (poison.poisonEffect()) {
            case HALT -> Runtime.getRuntime().halt(1);
            case EXHAUST_MEMORY -> exhaustMemory();
            case OVERFLOW_STACK -> overflowStack(0);
        }
    }

    private static long exhaustMemory() {
        List<byte[]> all = new ArrayList<>();
        while (all.size() < Integer.MAX_VALUE) all.add(new byte[1 << 20]);
        return all.size();
    }

    private static int overflowStack(int depth) {
        return depth < 0 ? depth : overflowStack(depth + 1) + 1;
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
