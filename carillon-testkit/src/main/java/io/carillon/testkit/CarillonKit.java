package io.carillon.testkit;

import io.carillon.Carillon;
import io.carillon.run.HandlerType;
import io.carillon.run.RunId;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.UUID;
import java.util.function.IntSupplier;
import org.assertj.core.api.AssertProvider;
import org.jspecify.annotations.Nullable;

/**
 * What a user's test holds in hand: the database, its clock, and questions about the runs in it. AssertJ's own {@code assertThat(kit)} leads to
 * {@link KitAssert}.
 */
public final class CarillonKit implements AssertProvider<KitAssert> {
    private static final String RUNS = """
            SELECT id, target_name, queue, CASE WHEN owner IS NULL THEN 'waiting' ELSE 'running' END AS state, key, due_at, attempt, failures,
                   parked AS reason, payload, created_at
              FROM carillon.run WHERE target = 'handler' AND target_name = ?
            UNION ALL
            SELECT h.id, h.target_name, h.queue, h.state, h.key, h.due_at, h.attempt, h.failures,
                   h.reason, coalesce(h.payload, d.payload), h.created_at
              FROM carillon.run_history h LEFT JOIN carillon.dead_run d ON d.project = h.project AND d.id = h.id
             WHERE h.target = 'handler' AND h.target_name = ?
             ORDER BY created_at, id
            """;

    private static final int MOST_ROUNDS = 1_000;
    private static final Duration BUDGET = Duration.ofMinutes(1);

    private final TestDatabase database;
    private final TestClock clock;
    private final Sql sql;
    private IntSupplier dueOnce = () -> {
        throw new CarillonException(
                ErrorCode.INVALID_OPTION,
                "The kit does not know what executes runs. Tell it by CarillonKit.driving(carillon).");
    };

    private CarillonKit(TestDatabase database) {
        this.database = database;
        this.clock = database.clock();
        this.sql = new Sql(database.dataSource());
    }

    /** A kit for this database. */
    public static CarillonKit on(TestDatabase database) {
        return new CarillonKit(database);
    }

    public TestDatabase database() {
        return database;
    }

    public TestClock clock() {
        return clock;
    }

    /** Moves the clock on. */
    public CarillonKit advance(Duration by) {
        clock.advance(by);
        return this;
    }

    /** All runs of a handler in the order they were created, whatever became of them. */
    public List<KitRun> runs(HandlerType<?> type) {
        return sql.list(RUNS, CarillonKit::run, type.name(), type.name());
    }

    /** The one run of a handler; fails when there is none or more than one. */
    public RunsAssert run(HandlerType<?> type) {
        return RunsAssert.of(this, type).times(1);
    }

    /** Drives this Carillon (made by {@code build()}, so that nothing runs in the background): {@link #runDue()} executes its handlers in the calling thread. */
    public CarillonKit driving(Carillon carillon) {
        return executing(() -> carillon.tick(BUDGET).processed());
    }

    /** Says how due runs are executed once in the calling thread; it answers how many were. */
    public CarillonKit executing(IntSupplier dueOnce) {
        this.dueOnce = dueOnce;
        return this;
    }

    /** Executes what is due on the clock, and what became due by that, in this thread; returns how many runs were executed. */
    public int runDue() {
        int executed = 0;
        for (int round = 0; round < MOST_ROUNDS; round++) {
            int now = dueOnce.getAsInt();
            if (now == 0) return executed;
            executed += now;
        }
        throw new AssertionError(
                "after %d rounds and %d runs there is still something due: does a handler enqueue itself without delay?"
                        .formatted(MOST_ROUNDS, executed));
    }

    @Override
    public KitAssert assertThat() {
        return new KitAssert(this);
    }

    private static KitRun run(ResultSet row) throws SQLException {
        return new KitRun(
                new RunId(row.getObject("id", UUID.class)),
                row.getString("target_name"),
                row.getString("queue"),
                row.getString("state"),
                row.getString("key"),
                row.getObject("due_at", OffsetDateTime.class).toInstant(),
                row.getInt("attempt"),
                row.getInt("failures"),
                row.getString("reason"),
                text(row.getBytes("payload")));
    }

    private static @Nullable String text(byte @Nullable [] payload) {
        return payload == null ? null : new String(payload, StandardCharsets.UTF_8);
    }
}
