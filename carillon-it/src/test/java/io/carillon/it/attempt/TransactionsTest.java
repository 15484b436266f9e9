package io.carillon.it.attempt;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.Enqueuer;
import io.carillon.ErrorCode;
import io.carillon.HandlerOptions;
import io.carillon.NodeConfig;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Handlers whose writes commit with the run, and runs that the caller's transaction enqueues. */
@CarillonTest
class TransactionsTest {
    record Invoice(String number) {}

    private static final HandlerType<Invoice> POST = HandlerType.of("invoice.post", Invoice.class);
    private static final HandlerType<Invoice> NOTE = HandlerType.of("invoice.note", Invoice.class);
    private static final Retry NO_DELAY = Retry.exponential(Duration.ZERO);
    private static final String OPEN_TRANSACTIONS =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'";
    private final ApiFixture fixture;

    TransactionsTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @BeforeEach
    void createBookTable() {
        fixture.database().execute("DROP TABLE IF EXISTS book; CREATE TABLE book (number text, run text)");
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void the_timeout_does_not_include_waiting_for_a_connection() {
        Carillon carillon = fixture.node(builder -> builder.config(oneTransactionalSlot(8))
                .handleInTransaction(
                        POST,
                        (invoice, run, connection) -> {
                            post(connection, invoice, run.id());
                            Thread.sleep(500); // the work that the timeout measures
                        },
                        HandlerOptions.defaults().timeout(Duration.ofSeconds(2)).retry(NO_DELAY)));
        List<RunId> runs = IntStream.range(0, 6)
                .mapToObj(i -> carillon.enqueue(POST, new Invoice("R-" + i)).run())
                .toList();

        for (RunId run : runs)
            assertThat(awaitState(carillon, run, RunState.SUCCEEDED).failures()).isZero();
    }

    @Test
    void transactional_handlers_that_wait_leave_slots_to_other_handlers() {
        CountDownLatch goOn = new CountDownLatch(1);
        Carillon carillon = fixture.node(builder -> builder.config(oneTransactionalSlot(4))
                .handleInTransaction(POST, (invoice, run, connection) -> goOn.await(30, TimeUnit.SECONDS))
                .handle(NOTE, (invoice, run) -> {}, HandlerOptions.defaults().queue("notes")));
        List<RunId> waiting = IntStream.range(0, 20)
                .mapToObj(i -> carillon.enqueue(POST, new Invoice("R-" + i)).run())
                .toList();
        eventually()
                .until(() -> fixture.query("SELECT count(*) FROM carillon.run WHERE owner IS NOT NULL")
                                .number()
                        > 0);

        RunId plain = carillon.enqueue(NOTE, new Invoice("N")).run();

        awaitState(carillon, plain, RunState.SUCCEEDED);
        goOn.countDown();
        for (RunId run : waiting)
            assertThat(awaitState(carillon, run, RunState.SUCCEEDED).failures()).isZero();
    }

    @Test
    void effect_and_completion_commit_together() {
        CountDownLatch wrote = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Carillon carillon = fixture.node(builder -> builder.handleInTransaction(POST, (invoice, run, connection) -> {
            post(connection, invoice, run.id());
            wrote.countDown();
            goOn.await(30, TimeUnit.SECONDS);
        }));
        RunId id = carillon.enqueue(POST, new Invoice("R-1")).run();

        eventually().until(() -> wrote.getCount() == 0);
        assertThat(booked()).isZero();
        assertThat(carillon.runs().get(id).map(Run::state)).contains(RunState.RUNNING);
        goOn.countDown();

        awaitState(carillon, id, RunState.SUCCEEDED);
        assertThat(booked()).isEqualTo(1);
    }

    @Test
    void the_writes_of_a_failed_attempt_are_rolled_back() {
        Carillon carillon = fixture.node(builder -> builder.handleInTransaction(
                POST,
                (invoice, run, connection) -> {
                    post(connection, invoice, run.id());
                    if (run.attempt() < 3) throw new IOException("no");
                },
                HandlerOptions.defaults().retry(NO_DELAY)));

        Run run =
                awaitState(carillon, carillon.enqueue(POST, new Invoice("R-1")).run(), RunState.SUCCEEDED);

        assertThat(run.attempt()).isEqualTo(3);
        assertThat(booked()).isEqualTo(1);
    }

    @Test
    void a_failed_statement_rolls_the_transaction_back_even_if_the_handler_catches_the_exception() {
        Carillon carillon = fixture.node(builder -> builder.handleInTransaction(
                POST,
                (invoice, run, connection) -> {
                    post(connection, invoice, run.id());
                    if (run.attempt() > 1) return;
                    try (PreparedStatement wrong = connection.prepareStatement("SELECT * FROM nowhere")) {
                        wrong.execute();
                    } catch (SQLException ignored) {
                        // The handler ignores the exception, but PostgreSQL has already aborted the transaction.
                    }
                },
                HandlerOptions.defaults().retry(NO_DELAY)));

        Run run =
                awaitState(carillon, carillon.enqueue(POST, new Invoice("R-1")).run(), RunState.SUCCEEDED);

        assertThat(run.attempt()).isEqualTo(2);
        assertThat(booked()).isEqualTo(1);
    }

    @Test
    void an_attempt_that_lost_its_lease_writes_nothing() {
        CountDownLatch wrote = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Carillon carillon = fixture.node(builder -> builder.handleInTransaction(POST, (invoice, run, connection) -> {
            post(connection, invoice, run.id());
            wrote.countDown();
            goOn.await(30, TimeUnit.SECONDS);
        }));
        RunId id = carillon.enqueue(POST, new Invoice("R-1")).run();
        eventually().until(() -> wrote.getCount() == 0);

        // Another node takes over the run, as it does after it declared this node dead.
        fixture.database().execute("UPDATE carillon.run SET owner = gen_random_uuid(), attempt = attempt + 1");
        goOn.countDown();

        eventually().until(() -> fixture.query(OPEN_TRANSACTIONS).number() == 0);
        assertThat(booked()).isZero();
        assertThat(carillon.runs().get(id)).hasValueSatisfying(run -> {
            assertThat(run.state()).isEqualTo(RunState.RUNNING);
            assertThat(run.attempt()).isEqualTo(2);
        });
        assertThat(fixture.query("SELECT count(*) FROM carillon.run_history").number())
                .isZero();
    }

    @Test
    void concurrent_runs_commit_exactly_one_effect_each_through_a_small_pool() {
        Carillon carillon = fixture.add(Carillon.on(fixture.database().pool(7))
                .handleInTransaction(
                        POST,
                        (invoice, run, connection) -> {
                            post(connection, invoice, run.id());
                            if (run.attempt() == 1 && invoice.number().endsWith("3")) throw new IOException("again");
                        },
                        HandlerOptions.defaults().retry(NO_DELAY))
                .start());

        carillon.enqueueAll(
                POST,
                IntStream.range(0, 200).mapToObj(i -> new Invoice("R-" + i)).toList());

        eventually()
                .until(() -> fixture.query("SELECT count(*) FROM carillon.run_history WHERE state = 'succeeded'")
                                .number()
                        == 200);
        assertThat(booked()).isEqualTo(200);
        assertThat(fixture.query("SELECT count(DISTINCT run) FROM book").number())
                .isEqualTo(200);
    }

    @Test
    void a_transactional_handler_enqueues_follow_up_runs_in_its_own_transaction() {
        AtomicInteger noted = new AtomicInteger();
        Carillon[] self = new Carillon[1];
        Carillon carillon = fixture.node(builder -> builder.handleInTransaction(
                        POST,
                        (invoice, run, connection) -> {
                            self[0].in(connection).enqueue(NOTE, invoice);
                            if (run.attempt() == 1) throw new IOException("not yet");
                        },
                        HandlerOptions.defaults().retry(NO_DELAY))
                .handle(NOTE, (invoice, run) -> noted.incrementAndGet()));
        self[0] = carillon;

        awaitState(carillon, carillon.enqueue(POST, new Invoice("R-1")).run(), RunState.SUCCEEDED);

        eventually().until(() -> noted.get() == 1);
        eventually()
                .until(() -> fixture.query("SELECT count(*) FROM carillon.run").number() == 0);
        assertThat(noted).hasValue(1);
    }

    @Test
    void a_run_of_the_callers_transaction_is_visible_after_the_commit_and_wakes_a_node() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        Carillon worker = fixture.node(builder -> builder.handle(POST, (invoice, run) -> calls.incrementAndGet()));
        Carillon client = fixture.client(builder -> builder);
        RunId id;
        try (Connection connection = fixture.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);
            id = client.in(connection).enqueue(POST, new Invoice("R-1")).run();
            post(connection, new Invoice("R-1"), id);

            assertThat(client.runs().get(id)).isEmpty();
            connection.commit();
            connection.setAutoCommit(true);
        }

        awaitState(worker, id, RunState.SUCCEEDED);
        assertThat(calls).hasValue(1);
        assertThat(booked()).isEqualTo(1);
    }

    @Test
    void nothing_remains_of_a_run_whose_transaction_rolls_back() throws Exception {
        Carillon client = fixture.client(builder -> builder);
        try (Connection connection = fixture.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);
            Enqueuer mine = client.in(connection);
            mine.enqueue(POST, new Invoice("R-1"), Enqueue.now().uniqueKey("R-1"));
            mine.enqueueAll(POST, List.of(new Invoice("R-2"), new Invoice("R-3")));
            connection.rollback();
            connection.setAutoCommit(true);
        }

        assertThat(fixture.query("SELECT count(*) FROM carillon.run").number()).isZero();
        assertThat(client.enqueue(POST, new Invoice("R-1"), Enqueue.now().uniqueKey("R-1")))
                .isInstanceOf(EnqueueResult.Enqueued.class);
    }

    @Test
    void a_duplicate_key_is_reported_inside_the_callers_transaction() throws Exception {
        Carillon client = fixture.client(builder -> builder);
        Enqueue keyed = Enqueue.after(Duration.ofHours(1)).uniqueKey("R-1");
        RunId first = client.enqueue(POST, new Invoice("R-1"), keyed).run();
        try (Connection connection = fixture.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);

            assertThat(client.in(connection).enqueue(POST, new Invoice("R-1"), keyed))
                    .isEqualTo(new EnqueueResult.Duplicate(first));
            post(connection, new Invoice("R-1"), first);
            connection.commit();
            connection.setAutoCommit(true);
        }

        assertThat(booked()).isEqualTo(1);
    }

    @Test
    void a_rejected_payload_leaves_the_callers_transaction_usable() throws Exception {
        Carillon client = fixture.client(builder -> builder);
        try (Connection connection = fixture.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);
            post(connection, new Invoice("R-1"), RunId.generate());

            CarillonException refusal = catchThrowableOfType(
                    CarillonException.class, () -> client.in(connection).enqueue(POST, new Invoice("a\0b")));
            connection.commit();
            connection.setAutoCommit(true);

            assertThat(refusal.code()).isEqualTo(ErrorCode.PAYLOAD_UNWRITABLE);
        }

        assertThat(booked()).isEqualTo(1);
        assertThat(fixture.query("SELECT count(*) FROM carillon.run").number()).isZero();
    }

    private static NodeConfig oneTransactionalSlot(int concurrency) {
        return NodeConfig.defaults()
                .concurrency(concurrency)
                .transactionalConcurrency(1)
                .maxClaimSize(100);
    }

    private long booked() {
        return fixture.query("SELECT count(*) FROM book").number();
    }

    private static void post(Connection connection, Invoice invoice, RunId run) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO book VALUES (?, ?)")) {
            insert.setString(1, invoice.number());
            insert.setString(2, run.toString());
            insert.executeUpdate();
        }
    }
}
