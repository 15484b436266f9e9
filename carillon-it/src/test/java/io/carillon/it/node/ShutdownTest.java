package io.carillon.it.node;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Shutdown of a node: with running attempts, with queued runs, and with handlers that ignore the interrupt. */
@CarillonTest
class ShutdownTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private final ApiFixture fixture;

    ShutdownTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void running_attempts_are_awaited_and_nothing_new_is_claimed() throws Exception {
        CountDownLatch running = new CountDownLatch(5);
        CountDownLatch finish = new CountDownLatch(1);
        AtomicInteger calls = new AtomicInteger();
        Carillon node = fixture.node(builder -> builder.shutdownTimeout(Duration.ofSeconds(30))
                .concurrency(5)
                .handle(JOB, (job, run) -> {
                    calls.incrementAndGet();
                    running.countDown();
                    finish.await();
                }));
        node.enqueueAll(JOB, Collections.nCopies(20, new Job("x")));
        assertThat(running.await(30, TimeUnit.SECONDS)).isTrue();

        CompletableFuture<Void> closed = CompletableFuture.runAsync(node::close);
        eventually().until(() -> !node.isRunning());
        eventually()
                .until(() -> fixture.query("SELECT count(*) FROM carillon.run WHERE owner IS NOT NULL")
                                .number()
                        == 5);
        finish.countDown();
        closed.get(30, TimeUnit.SECONDS);

        assertThat(calls).hasValue(5);
        assertThat(fixture.query("SELECT count(*) FROM carillon.run_history WHERE state = 'succeeded'")
                        .number())
                .isEqualTo(5);
        assertThat(fixture.query("SELECT count(*) FROM carillon.run"
                                + " WHERE owner IS NULL AND node_deaths = 0 AND failures = 0")
                        .number())
                .isEqualTo(15);
    }

    @Test
    void fifty_interrupted_runs_are_handed_back_without_counting_an_attempt_while_heartbeats_continue()
            throws Exception {
        CountDownLatch running = new CountDownLatch(50);
        CountDownLatch never = new CountDownLatch(1);
        Carillon node = fixture.node(builder -> builder.config(ApiFixture.quickHeartbeats())
                .shutdownTimeout(Duration.ofSeconds(4))
                .concurrency(50)
                .handle(JOB, (job, run) -> {
                    running.countDown();
                    never.await();
                }));
        Carillon witness = fixture.node(builder -> builder.config(ApiFixture.quickHeartbeats()));
        node.enqueueAll(JOB, Collections.nCopies(50, new Job("x")));
        assertThat(running.await(30, TimeUnit.SECONDS)).isTrue();
        String id = fixture.query("SELECT id FROM carillon.node WHERE 'job' = ANY (handlers) AND dead_at IS NULL"
                        + " ORDER BY started_at DESC LIMIT 1")
                .text();
        long heartbeatsBefore = heartbeats(id);
        long before = System.nanoTime();

        node.close();

        Duration took = Duration.ofNanos(System.nanoTime() - before);
        assertThat(took).isBetween(Duration.ofSeconds(4), Duration.ofSeconds(8));
        assertThat(heartbeats(id) - heartbeatsBefore)
                .as("heartbeats during the shutdown")
                .isGreaterThanOrEqualTo(5);
        assertThat(witness.nodes())
                .filteredOn(one -> one.id().toString().equals(id))
                .singleElement()
                .satisfies(one -> assertThat(one.deathReason()).isEqualTo("stopped"));
        assertThat(fixture.query("SELECT count(*) FROM carillon.run"
                                + " WHERE owner IS NULL AND node_deaths = 0 AND crashes = 0"
                                + " AND failures = 0 AND parked IS NULL AND ready_at <= carillon.clock()")
                        .number())
                .isEqualTo(50);
        assertThat(fixture.query("SELECT count(*) FROM carillon.attempt").number())
                .isZero();
    }

    @Test
    void handlers_that_ignore_the_interrupt_are_abandoned_and_their_runs_handed_back() throws Exception {
        Semaphore stubborn = new Semaphore(0);
        CountDownLatch running = new CountDownLatch(2);
        Carillon node = fixture.node(
                builder -> builder.shutdownTimeout(Duration.ZERO).concurrency(2).handle(JOB, (job, run) -> {
                    running.countDown();
                    stubborn.acquireUninterruptibly();
                }));
        node.enqueueAll(JOB, Collections.nCopies(6, new Job("x")));
        assertThat(running.await(30, TimeUnit.SECONDS)).isTrue();

        node.close();

        try {
            assertThat(fixture.query("SELECT count(*) FROM carillon.run WHERE owner IS NULL AND node_deaths = 0"
                                    + " AND failures = 0")
                            .number())
                    .isEqualTo(6);
            AtomicInteger calls = new AtomicInteger();
            Carillon next = fixture.node(builder -> builder.handle(JOB, (job, run) -> calls.incrementAndGet()));
            eventually().until(() -> calls.get() == 6);
            assertThat(next.runs().list(io.carillon.run.RunFilter.all().state(RunState.WAITING)))
                    .isEmpty();
        } finally {
            stubborn.release(2);
        }
    }

    @Test
    void a_closed_carillon_refuses_calls_and_close_is_idempotent() {
        Carillon node = fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));
        node.close();
        node.close();

        assertThat(code(() -> node.enqueue(JOB, new Job("x")))).isEqualTo(ErrorCode.ALREADY_CLOSED);
        assertThat(code(() -> node.enqueueAll(JOB, java.util.List.of()))).isEqualTo(ErrorCode.ALREADY_CLOSED);
        assertThat(code(() -> node.in(null))).isEqualTo(ErrorCode.ALREADY_CLOSED);
        assertThat(code(node::schedules)).isEqualTo(ErrorCode.ALREADY_CLOSED);
        assertThat(code(node::runs)).isEqualTo(ErrorCode.ALREADY_CLOSED);
        assertThat(code(node::queues)).isEqualTo(ErrorCode.ALREADY_CLOSED);
        assertThat(code(node::health)).isEqualTo(ErrorCode.ALREADY_CLOSED);
        assertThat(code(node::nodes)).isEqualTo(ErrorCode.ALREADY_CLOSED);
        assertThat(code(node::stats)).isEqualTo(ErrorCode.ALREADY_CLOSED);
        assertThat(code(node::status)).isEqualTo(ErrorCode.ALREADY_CLOSED);
        assertThat(code(() -> node.runDue(Duration.ofSeconds(1)))).isEqualTo(ErrorCode.ALREADY_CLOSED);
    }

    @Test
    void a_node_leaves_no_thread_and_no_connection_behind() {
        Carillon warm = fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));
        warm.close();
        for (int i = 0; i < 3; i++) {
            Carillon node = fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));
            RunId id = node.enqueue(JOB, new Job("x"), Enqueue.now()).run();
            awaitState(node, id, RunState.SUCCEEDED);
            node.close();
        }

        eventually()
                .untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
                        .filteredOn(thread -> thread.getName()
                                .matches("carillon-(claim|heartbeat|plan|listen|complete|wakeup-send"
                                        + "|watchdog|maintenance)"))
                        .isEmpty());
        assertThat(fixture.query("SELECT count(*) FROM pg_stat_activity"
                                + " WHERE datname = current_database()"
                                + " AND query LIKE '%LISTEN%' AND query NOT LIKE '%pg_stat%'"
                                + " AND query NOT LIKE 'UNLISTEN%'")
                        .number())
                .isZero();
        assertThat(fixture.query("SELECT count(*) FROM carillon.node WHERE dead_at IS NULL")
                        .number())
                .isZero();
    }

    private long heartbeats(String node) {
        return fixture.query("SELECT heartbeat_count FROM carillon.node WHERE id = '" + node + "'")
                .number();
    }

    private static ErrorCode code(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        CarillonException refusal = catchThrowableOfType(CarillonException.class, call);
        return refusal == null ? null : refusal.code();
    }
}
