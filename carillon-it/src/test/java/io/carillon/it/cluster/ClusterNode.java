package io.carillon.it.cluster;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.engine.EngineConfig;
import io.carillon.run.HandlerType;
import io.carillon.run.RunContext;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;

/** A node process of the cluster tests. Its handler writes what it does to a table of its own, outside the run's bookkeeping. */
final class ClusterNode {
    /** How long the handler works. */
    record Work(long millis) {}

    static final HandlerType<Work> WORK = HandlerType.of("work", Work.class);

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
                    .handle(WORK, node::work)
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
