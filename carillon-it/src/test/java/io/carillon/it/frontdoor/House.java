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

/** What every test of the front door needs: nodes that are closed afterwards, and a look into the tables. */
public final class House implements AutoCloseable {
    static final Duration LONG_ENOUGH = Duration.ofSeconds(30);

    /** What users can change; a refused call must leave all of it as it was. */
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
            "key_hold",
            "progress",
            "awaited");

    private final TestDatabase database;
    private final List<Carillon> open = new CopyOnWriteArrayList<>();

    public House(TestDatabase database) {
        this.database = database;
    }

    public TestDatabase database() {
        return database;
    }

    /** A started node with a pool of its own; short drain, so that a test with a stuck handler ends soon. */
    public Carillon node(UnaryOperator<CarillonBuilder> with) {
        return add(with.apply(builder()).start());
    }

    /** The same without a node: to enqueue, to manage and to tick. */
    public Carillon client(UnaryOperator<CarillonBuilder> with) {
        return add(with.apply(builder()).build());
    }

    public CarillonBuilder builder() {
        EngineConfig config = EngineConfig.defaults();
        return Carillon.on(database.pool(12))
                .config(config.with(new EngineConfig.Pace(
                        config.pace().poll(), config.pace().plan(), Duration.ofSeconds(2))));
    }

    public Carillon add(Carillon carillon) {
        open.add(carillon);
        return carillon;
    }

    public static EngineConfig quickBeats() {
        return EngineConfig.defaults().with(new EngineConfig.Heartbeat(Duration.ofMillis(300), Duration.ofSeconds(3)));
    }

    public static ConditionFactory eventually() {
        return await().atMost(LONG_ENOUGH).pollInterval(Duration.ofMillis(20));
    }

    /** Waits until the run is in this state and returns it as it is then. */
    public static Run awaitState(Carillon carillon, RunId id, RunState state) {
        return eventually()
                .alias(id + " becomes " + state)
                .until(
                        () -> carillon.runs().get(id),
                        run -> run.map(Run::state).filter(state::equals).isPresent())
                .orElseThrow();
    }

    /** Each table's rows as one number. */
    public Map<String, String> tables() {
        Map<String, String> all = new LinkedHashMap<>();
        for (String table : TABLES)
            all.put(
                    table,
                    one("SELECT count(*) || ' rows ' || coalesce(sum(hashtextextended(t::text, 0)), 0) FROM carillon."
                            + table + " t"));
        return all;
    }

    public long number(String sql, Object... parameters) {
        return Long.parseLong(one(sql, parameters));
    }

    public String one(String sql, Object... parameters) {
        return rows(sql, parameters).get(0).get(0);
    }

    /** Rows of a query, each as its columns' text. */
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
        open.forEach(Carillon::close);
        open.clear();
        database.clear();
    }
}
