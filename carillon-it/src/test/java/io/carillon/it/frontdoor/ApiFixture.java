package io.carillon.it.frontdoor;

import static org.awaitility.Awaitility.await;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.engine.EngineConfig;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.awaitility.core.ConditionFactory;

/** Starts nodes and clients for API tests, closes them after each test, and queries the tables. */
public final class ApiFixture implements AutoCloseable {
    static final Duration TIMEOUT = Duration.ofSeconds(30);

    /** The tables that API calls write. A rejected call must not change any of them. */
    private static final List<String> TABLES = List.of(
            "project",
            "schedule",
            "run",
            "run_history",
            "attempt",
            "ledger_gap",
            "dead_run",
            "lane",
            "cancel_request",
            "unique_key_window",
            "progress",
            "open_attempt");

    private final TestDatabase database;
    private final List<Carillon> carillons = new CopyOnWriteArrayList<>();

    public ApiFixture(TestDatabase database) {
        this.database = database;
    }

    public TestDatabase database() {
        return database;
    }

    /** Starts a node with its own pool. Its short shutdown timeout ends a test with a stuck handler soon. */
    public Carillon node(UnaryOperator<CarillonBuilder> with) {
        return add(with.apply(builder()).start());
    }

    /** Like {@link #node}, but starts no node: for calls that enqueue, manage or {@code runDue}. */
    public Carillon client(UnaryOperator<CarillonBuilder> with) {
        return add(with.apply(builder()).build());
    }

    public CarillonBuilder builder() {
        EngineConfig config = EngineConfig.defaults();
        return Carillon.on(database.pool(12))
                .config(config.with(new EngineConfig.TimingSettings(
                        config.timing().poll(), config.timing().plan(), Duration.ofSeconds(2))));
    }

    public Carillon add(Carillon carillon) {
        carillons.add(carillon);
        return carillon;
    }

    public static EngineConfig quickHeartbeats() {
        return EngineConfig.defaults()
                .with(new EngineConfig.HeartbeatSettings(Duration.ofMillis(300), Duration.ofSeconds(3)));
    }

    public static ConditionFactory eventually() {
        return await().atMost(TIMEOUT).pollInterval(Duration.ofMillis(20));
    }

    /** Waits until the run is in this state and returns it. */
    public static Run awaitState(Carillon carillon, RunId id, RunState state) {
        return eventually()
                .alias(id + " becomes " + state)
                .until(
                        () -> carillon.runs().get(id),
                        run -> run.map(Run::state).filter(state::equals).isPresent())
                .orElseThrow();
    }

    /** Returns a digest of the rows of each table. */
    public Map<String, String> tableDigests() {
        Map<String, String> all = new LinkedHashMap<>();
        for (String table : TABLES)
            all.put(
                    table,
                    text("SELECT count(*) || ' rows ' || coalesce(sum(hashtextextended(t::text, 0)), 0) FROM carillon."
                            + table + " t"));
        return all;
    }

    public long number(String sql, Object... parameters) {
        return Long.parseLong(text(sql, parameters));
    }

    public String text(String sql, Object... parameters) {
        return rows(sql, parameters).get(0).get(0);
    }

    /** Returns the rows of a query, each as the text of its columns. */
    public List<List<String>> rows(String sql, Object... parameters) {
        try (Connection connection = database.dataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) statement.setObject(i + 1, parameters[i]);
            try (ResultSet rows = statement.executeQuery()) {
                List<List<String>> all = new ArrayList<>();
                while (rows.next()) {
                    List<String> row = new ArrayList<>();
                    for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) row.add(rows.getString(i));
                    all.add(row);
                }
                return all;
            }
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** Closes all nodes and empties the tables for the next test. */
    @Override
    public void close() {
        carillons.forEach(Carillon::close);
        carillons.clear();
        database.clear();
    }
}
