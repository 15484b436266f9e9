package io.carillon.it.wakeup;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.HandlerOptions;
import io.carillon.Health;
import io.carillon.NodeConfig;
import io.carillon.QueueLimits;
import io.carillon.it.migration.NewerCode;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.When;
import io.carillon.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The whole engine behind a real PgBouncer in transaction mode: it leaves no state on a session and relies on none. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@EnabledIf(value = "isInstalled", disabledReason = "pgbouncer not found; install it or set CARILLON_TEST_PGBOUNCER")
class PgBouncerTest {
    record Job(int number) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final HandlerType<Job> POST = HandlerType.of("post", Job.class);

    /** The poll interval of at most one second, plus a margin for a machine with two busy cores. */
    private static final Duration BOUND = Duration.ofSeconds(3);

    private static final String SUCCEEDED =
            "SELECT count(*) FROM carillon.run_history WHERE state = 'succeeded' AND origin = 'direct'";

    private static TestDatabase database;
    private final List<Carillon> open = new ArrayList<>();
    private PgBouncer bouncer;
    private final AtomicInteger done = new AtomicInteger();

    static boolean isInstalled() {
        boolean found = PgBouncer.binary().isPresent();
        if (!found) System.out.println("PgBouncerTest skipped: pgbouncer not found");
        return found;
    }

    @BeforeAll
    static void createEmptyDatabase() {
        database = TestDatabase.empty();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    /** Closes the nodes first, because they retire through the pooler. */
    @AfterEach
    void close() throws IOException {
        open.forEach(Carillon::close);
        if (bouncer != null) bouncer.close();
        database.execute("DROP SCHEMA carillon CASCADE; DROP TABLE IF EXISTS books");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void everything_works_and_leaves_no_state_on_a_session(boolean inTurn) throws Exception {
        bouncer = PgBouncer.start(database, inTurn);
        database.execute("CREATE TABLE books (number int)");
        DataSource pool = bouncer.pool(12);
        Carillon node = open(Carillon.on(pool)
                .handle(
                        JOB,
                        (job, run) -> {
                            if (job.number() == 7 && run.attempt() == 1) throw new IllegalStateException("again");
                            done.incrementAndGet();
                        },
                        HandlerOptions.defaults().retry(Retry.exponential(Duration.ofMillis(10))))
                .handleInTransaction(POST, (job, run, connection) -> post(connection, job))
                .schedule("often", When.every(Duration.ofSeconds(1)), JOB, new Job(-1))
                .start());
        node.queues().limit("job", QueueLimits.maxRunning(20));

        List<RunId> ids = new ArrayList<>();
        for (int i = 0; i < 60; i++)
            ids.add(node.enqueue(JOB, new Job(i), i % 3 == 0 ? Enqueue.now().fifoKey("line") : Enqueue.now())
                    .run());
        for (int i = 0; i < 20; i++) ids.add(node.enqueue(POST, new Job(i)).run());
        List<EnqueueResult> many = node.enqueueAll(
                JOB, IntStream.range(100, 1_600).mapToObj(Job::new).toList());
        ids.addAll(enqueueInTransactions(node, pool));
        many.forEach(one -> ids.add(one.run()));

        eventually().until(() -> database.query(SUCCEEDED).number() == ids.size());
        eventually().until(() -> done.get() >= 60 + 20 + 1_500 + 2);
        assertThat(database.query("SELECT count(*) FROM books").number()).isEqualTo(20);
        assertThat(database.query("SELECT count(*) FROM carillon.run_history WHERE attempt > 1")
                        .number())
                .isOne();
        assertThat(node.status().orElseThrow().loops().values())
                .allSatisfy(loop -> assertThat(loop.failures()).isZero());
        for (int i = 0; i < 20; i++) {
            assertThat(TestDatabase.query(pool, "SELECT count(*) FROM pg_prepared_statements")
                            .number())
                    .isZero();
            assertThat(TestDatabase.query(pool, "SELECT count(*) FROM pg_listening_channels()")
                            .number())
                    .isZero();
            assertThat(TestDatabase.query(
                                    pool,
                                    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
                                            + " AND pid = pg_backend_pid()")
                            .number())
                    .isZero();
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void work_of_other_processes_starts_within_the_poll_bound_without_busy_polling(boolean inTurn) throws Exception {
        bouncer = PgBouncer.start(database, inTurn);
        Carillon node =
                open(Carillon.on(bouncer.pool(8)).handle(JOB, (job, run) -> {}).start());
        Carillon other = open(Carillon.on(bouncer.pool(2)).build());
        eventually().until(() -> node.health().kinds().contains(Health.Kind.LISTEN_NOT_WORKING));
        long before = transactions();
        long pollsBefore = node.status().orElseThrow().counts().polls();
        long from = System.nanoTime();

        for (int i = 0; i < 5; i++) {
            Run run = awaitState(node, other.enqueue(JOB, new Job(i)).run(), RunState.SUCCEEDED);
            assertThat(Duration.between(run.instants().dueAt(), run.instants().startedAt()))
                    .isLessThan(BOUND);
        }

        double seconds = (System.nanoTime() - from) / 1e9;
        // At most two polls per second, plus one for each run that ended.
        assertThat(node.status().orElseThrow().counts().polls() - pollsBefore).isLessThan((long) (seconds * 3) + 15);
        assertThat(transactions() - before).isLessThan((long) (seconds * 300) + 500);
    }

    @Test
    void listen_over_a_direct_connection_wakes_the_node_immediately() throws Exception {
        bouncer = PgBouncer.start(database, true);
        NodeConfig rarely =
                NodeConfig.defaults().pollInterval(Duration.ofMinutes(1)).shutdownTimeout(Duration.ofSeconds(2));
        Carillon node = open(Carillon.on(bouncer.pool(8))
                .config(rarely)
                .listenDataSource(database.pool(1))
                .handle(JOB, (job, run) -> {})
                .start());
        eventually().until(() -> node.health().healthy());
        Carillon other = open(Carillon.on(bouncer.pool(2)).build());

        awaitState(node, other.enqueue(JOB, new Job(1)).run(), RunState.SUCCEEDED);
    }

    @Test
    void many_processes_that_start_together_migrate_once(@TempDir Path directory) throws Exception {
        bouncer = PgBouncer.start(database, true);
        List<DataSource> pools =
                IntStream.range(0, 4).<DataSource>mapToObj(i -> bouncer.pool(3)).toList();

        pools.parallelStream().map(Carillon::on).map(CarillonBuilder::build).forEach(Carillon::close);
        int code = Carillon.schema(database.dataSource()).requiredVersion();
        NewerCode newer = new NewerCode(directory)
                .withFile(
                        "%04d_index.sql".formatted(code + 1),
                        NewerCode.text(
                                "-- min_code: 1",
                                "-- transaction: off",
                                "CREATE INDEX CONCURRENTLY run_later ON carillon.run (created_at);"));
        pools.parallelStream().forEach(newer::migrate);

        assertThat(database.query("SELECT max(number) FROM carillon.migration").number())
                .isEqualTo(code + 1);
        assertThat(database.query("SELECT count(*) FROM carillon.migration").number())
                .isEqualTo(database.query("SELECT max(number) FROM carillon.migration")
                        .number());
    }

    private Carillon open(Carillon carillon) {
        open.add(carillon);
        return carillon;
    }

    private static List<RunId> enqueueInTransactions(Carillon node, DataSource pool) throws SQLException {
        List<RunId> ids = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            try (Connection connection = pool.getConnection()) {
                connection.setAutoCommit(false);
                ids.add(node.in(connection).enqueue(JOB, new Job(200 + i)).run());
                connection.commit();
            }
        }
        return ids;
    }

    private static void post(Connection connection, Job job) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO books VALUES (" + job.number() + ")");
        }
    }

    private static long transactions() throws SQLException {
        return database.query("SELECT xact_commit + xact_rollback FROM pg_stat_database"
                        + " WHERE datname = current_database()")
                .number();
    }
}
