package io.carillon.it.frontdoor;

import static io.carillon.it.frontdoor.House.awaitState;
import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.Carillon;
import io.carillon.Enqueuing;
import io.carillon.engine.EngineConfig;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
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

/** Effects that commit with the run, and runs that commit with the caller. */
@CarillonTest
class TransactionsTest {
    record Invoice(String number) {}

    private static final HandlerType<Invoice> POST = HandlerType.of("invoice.post", Invoice.class);
    private static final HandlerType<Invoice> NOTE = HandlerType.of("invoice.note", Invoice.class);
    private static final Retry AT_ONCE = Retry.exponential(Duration.ZERO);
    private static final String OPEN_TRANSACTIONS =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'";
    private final House house;

    TransactionsTest(TestDatabase database) {
        house = new House(database);
    }

    @BeforeEach
    void book() {
        house.database().execute("DROP TABLE IF EXISTS book; CREATE TABLE book (number text, run text)");
    }

    @AfterEach
    void close() {
        house.close();
    }

    @Test
    void waiting_for_a_connection_is_no_part_of_the_timeout() {
        Carillon carillon = house.node(builder -> builder.config(
                        EngineConfig.defaults().with(new EngineConfig.Slots(8, 1, 100)))
                .handleInTransaction(
                        POST,
                        (invoice, run, connection) -> {
                            post(connection, invoice, run.id());
                            Thread.sleep(500); // the work itself
                        },
                        options -> options.timeout(Duration.ofSeconds(2)).retry(AT_ONCE)));
        List<RunId> runs = IntStream.range(0, 6)
                .mapToObj(i -> carillon.enqueue(POST, new Invoice("R-" + i)).run())
                .toList();

        for (RunId run : runs)
            assertThat(awaitState(carillon, run, RunState.SUCCEEDED).failures()).isZero();
    }

    @Test
    void transactional_handlers_that_wait_keep_no_slot_from_others() {
        CountDownLatch goOn = new CountDownLatch(1);
        Carillon carillon =
                house.node(builder -> builder.config(EngineConfig.defaults().with(new EngineConfig.Slots(4, 1, 100)))
                        .handleInTransaction(POST, (invoice, run, connection) -> goOn.await(30, TimeUnit.SECONDS))
                        .handle(NOTE, (invoice, run) -> {}, options -> options.queue("notes")));
        List<RunId> waiting = IntStream.range(0, 20)
                .mapToObj(i -> carillon.enqueue(POST, new Invoice("R-" + i)).run())
                .toList();
        eventually().until(() -> house.number("SELECT count(*) FROM carillon.run WHERE owner IS NOT NULL") > 0);

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
        Carillon carillon = house.node(builder -> builder.handleInTransaction(POST, (invoice, run, connection) -> {
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
    void what_a_failed_attempt_wrote_is_rolled_back() {
        Carillon carillon = house.node(builder -> builder.handleInTransaction(
                POST,
                (invoice, run, connection) -> {
                    post(connection, invoice, run.id());
                    if (run.attempt() < 3) throw new IOException("no");
                },
                options -> options.retry(AT_ONCE)));

        Run run =
                awaitState(carillon, carillon.enqueue(POST, new Invoice("R-1")).run(), RunState.SUCCEEDED);

        assertThat(run.attempt()).isEqualTo(3);
        assertThat(booked()).isEqualTo(1);
    }

    @Test
    void a_statement_that_failed_inside_rolls_all_of_it_back_even_if_it_was_caught() {
        Carillon carillon = house.node(builder -> builder.handleInTransaction(
                POST,
                (invoice, run, connection) -> {
                    post(connection, invoice, run.id());
                    if (run.attempt() > 1) return;
                    try (PreparedStatement wrong = connection.prepareStatement("SELECT * FROM nowhere")) {
                        wrong.execute();
                    } catch (SQLException ignored) {
                        // What careless code does: the transaction is lost all the same.
                    }
                },
                options -> options.retry(AT_ONCE)));

        Run run =
                awaitState(carillon, carillon.enqueue(POST, new Invoice("R-1")).run(), RunState.SUCCEEDED);

        assertThat(run.attempt()).isEqualTo(2);
        assertThat(booked()).isEqualTo(1);
    }

    @Test
    void whoever_lost_the_lease_leaves_nothing_behind() {
        CountDownLatch wrote = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Carillon carillon = house.node(builder -> builder.handleInTransaction(POST, (invoice, run, connection) -> {
            post(connection, invoice, run.id());
            wrote.countDown();
            goOn.await(30, TimeUnit.SECONDS);
        }));
        RunId id = carillon.enqueue(POST, new Invoice("R-1")).run();
        eventually().until(() -> wrote.getCount() == 0);

        // Another node takes it over, as it would after this one was declared dead.
        house.database().execute("UPDATE carillon.run SET owner = gen_random_uuid(), attempt = attempt + 1");
        goOn.countDown();

        eventually().until(() -> number(OPEN_TRANSACTIONS) == 0);
        assertThat(booked()).isZero();
        assertThat(carillon.runs().get(id)).hasValueSatisfying(run -> {
            assertThat(run.state()).isEqualTo(RunState.RUNNING);
            assertThat(run.attempt()).isEqualTo(2);
        });
        assertThat(number("SELECT count(*) FROM carillon.run_history")).isZero();
    }

    @Test
    void many_at_a_time_commit_exactly_one_effect_each_through_a_small_pool() {
        Carillon carillon = house.add(Carillon.on(house.database().pool(7))
                .handleInTransaction(
                        POST,
                        (invoice, run, connection) -> {
                            post(connection, invoice, run.id());
                            if (run.attempt() == 1 && invoice.number().endsWith("3")) throw new IOException("again");
                        },
                        options -> options.retry(AT_ONCE))
                .start());

        carillon.enqueueAll(
                POST,
                IntStream.range(0, 200).mapToObj(i -> new Invoice("R-" + i)).toList());

        eventually().until(() -> number("SELECT count(*) FROM carillon.run_history WHERE state = 'succeeded'") == 200);
        assertThat(booked()).isEqualTo(200);
        assertThat(number("SELECT count(DISTINCT run) FROM book")).isEqualTo(200);
    }

    @Test
    void a_transactional_handler_may_enqueue_what_follows_with_its_own_commit() {
        AtomicInteger noted = new AtomicInteger();
        Carillon[] self = new Carillon[1];
        Carillon carillon = house.node(builder -> builder.handleInTransaction(
                        POST,
                        (invoice, run, connection) -> {
                            self[0].in(connection).enqueue(NOTE, invoice);
                            if (run.attempt() == 1) throw new IOException("not yet");
                        },
                        options -> options.retry(AT_ONCE))
                .handle(NOTE, (invoice, run) -> noted.incrementAndGet()));
        self[0] = carillon;

        awaitState(carillon, carillon.enqueue(POST, new Invoice("R-1")).run(), RunState.SUCCEEDED);

        eventually().until(() -> noted.get() == 1);
        eventually().until(() -> number("SELECT count(*) FROM carillon.run") == 0);
        assertThat(noted).hasValue(1);
    }

    @Test
    void a_run_of_the_callers_transaction_is_seen_after_its_commit_and_wakes_a_node() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        Carillon worker = house.node(builder -> builder.handle(POST, (invoice, run) -> calls.incrementAndGet()));
        Carillon client = house.client(builder -> builder);
        RunId id;
        try (Connection connection = house.database().dataSource().getConnection()) {
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
        Carillon client = house.client(builder -> builder);
        try (Connection connection = house.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);
            Enqueuing mine = client.in(connection);
            mine.enqueue(POST, new Invoice("R-1"), Enqueue.now().key("R-1"));
            mine.enqueueAll(POST, List.of(new Invoice("R-2"), new Invoice("R-3")));
            connection.rollback();
            connection.setAutoCommit(true);
        }

        assertThat(number("SELECT count(*) FROM carillon.run")).isZero();
        assertThat(client.enqueue(POST, new Invoice("R-1"), Enqueue.now().key("R-1")))
                .isInstanceOf(EnqueueResult.Enqueued.class);
    }

    @Test
    void a_key_taken_in_the_callers_transaction_is_answered_there() throws Exception {
        Carillon client = house.client(builder -> builder);
        Enqueue keyed = Enqueue.after(Duration.ofHours(1)).key("R-1");
        RunId first = client.enqueue(POST, new Invoice("R-1"), keyed).run();
        try (Connection connection = house.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);

            assertThat(client.in(connection).enqueue(POST, new Invoice("R-1"), keyed))
                    .isEqualTo(new EnqueueResult.AlreadyThere(first));
            post(connection, new Invoice("R-1"), first);
            connection.commit();
            connection.setAutoCommit(true);
        }

        assertThat(booked()).isEqualTo(1);
    }

    @Test
    void a_refused_payload_leaves_the_callers_transaction_as_it_was() throws Exception {
        Carillon client = house.client(builder -> builder);
        try (Connection connection = house.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);
            post(connection, new Invoice("R-1"), RunId.next());

            CarillonException refusal = catchThrowableOfType(
                    CarillonException.class, () -> client.in(connection).enqueue(POST, new Invoice("a\0b")));
            connection.commit();
            connection.setAutoCommit(true);

            assertThat(refusal.code()).isEqualTo(ErrorCode.PAYLOAD_UNWRITABLE);
        }

        assertThat(booked()).isEqualTo(1);
        assertThat(number("SELECT count(*) FROM carillon.run")).isZero();
    }

    private long booked() {
        return number("SELECT count(*) FROM book");
    }

    private long number(String sql) {
        return house.number(sql);
    }

    private static void post(Connection connection, Invoice invoice, RunId run) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO book VALUES (?, ?)")) {
            insert.setString(1, invoice.number());
            insert.setString(2, run.toString());
            insert.executeUpdate();
        }
    }
}
