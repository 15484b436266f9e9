package io.carillon.it.limit;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.HandlerOptions;
import io.carillon.Health;
import io.carillon.QueueInfo;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.RunContext;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The breaker of a queue whose target is down, on real nodes. A queue has a breaker if it is set. */
@CarillonTest
class BreakerTest {
    record Call(int number) {}

    private static final HandlerType<Call> CALL = HandlerType.of("call", Call.class);

    private final ApiFixture fixture;
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger answered = new AtomicInteger();
    private final CountDownLatch repaired = new CountDownLatch(1);
    private volatile boolean down = true;

    BreakerTest(TestDatabase database) {
        this.fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        repaired.countDown();
        fixture.close();
    }

    private void call(Call call, RunContext run) throws Exception {
        calls.incrementAndGet();
        if (down) throw new IllegalStateException("connection refused");
        repaired.await();
        answered.incrementAndGet();
    }

    /** The second poll began after this call. */
    private static void awaitTwoPolls(Carillon node) {
        long before = polls(node);
        eventually().until(() -> polls(node) >= before + 2);
    }

    private static long polls(Carillon node) {
        return node.status().orElseThrow().counts().polls();
    }

    private CarillonBuilder calls(CarillonBuilder builder) {
        return builder.handle(
                CALL,
                this::call,
                HandlerOptions.defaults()
                        .queue("partner")
                        .retry(Retry.exponential(Duration.ofMillis(10))
                                .cap(Duration.ofMillis(50))
                                .attempts(1_000)));
    }

    @Test
    void a_breaker_holds_back_a_failing_queue_probes_it_once_and_closes_after_a_successful_probe() {
        fixture.client(builder -> builder).queues().breaker("partner", true);
        Carillon one = fixture.node(this::calls);
        Carillon two = fixture.node(this::calls);
        one.enqueueAll(CALL, Collections.nCopies(60, new Call(1)));

        eventually().until(() -> breaker(one).equals("open"));
        assertThat(one.health().issues())
                .anyMatch(issue -> issue.kind() == Health.Kind.BREAKER_OPEN
                        && issue.text().contains("the breaker of queue 'partner'"));
        eventually()
                .until(() -> fixture.query("SELECT count(*) FROM carillon.run WHERE owner IS NOT NULL")
                                .number()
                        == 0);
        // Both nodes have seen the breaker open, as they have after the 30 seconds that it stays open.
        awaitTwoPolls(one);
        awaitTwoPolls(two);
        int before = calls.get();
        down = false;

        fixture.database().execute("UPDATE carillon.lane SET breaker_until = carillon.clock()");

        eventually().until(() -> calls.get() == before + 1);
        eventually().until(() -> breaker(one).equals("half-open"));
        assertThat(fixture.query("SELECT count(*) FROM carillon.run WHERE owner IS NOT NULL")
                        .number())
                .isEqualTo(1);
        repaired.countDown();
        eventually().until(() -> answered.get() == 60);
        assertThat(breaker(one)).isEqualTo("closed");
        assertThat(one.health().issues()).isEmpty();
    }

    @Test
    void runs_executed_by_run_due_open_and_close_the_breaker_too() {
        Carillon client = fixture.client(this::calls);
        client.queues().breaker("partner", true);
        client.enqueueAll(CALL, Collections.nCopies(60, new Call(1)));

        client.runDue(Duration.ofSeconds(20));

        assertThat(breaker(client)).isEqualTo("open");
        assertThat(calls.get()).isBetween(20, 30);
        int before = calls.get();
        assertThat(client.runDue(Duration.ofSeconds(5)).processed()).isZero();
        down = false;
        repaired.countDown();
        fixture.database().execute("UPDATE carillon.lane SET breaker_until = carillon.clock()");
        client.runDue(Duration.ofSeconds(20));
        assertThat(breaker(client)).isEqualTo("closed");
        assertThat(calls.get()).isGreaterThan(before);
    }

    @Test
    void a_handler_that_fails_for_half_of_its_inputs_finishes_the_other_half() {
        Carillon node = fixture.node(builder -> builder.handle(
                CALL,
                (call, run) -> {
                    calls.incrementAndGet();
                    if (call.number() % 2 == 0) throw new IllegalArgumentException("invalid input");
                    answered.incrementAndGet();
                },
                HandlerOptions.defaults().retry(Retry.none())));
        // One after another, so that a breaker would open before most of them have started.
        for (int i = 0; i < 40; i++) {
            RunId run = node.enqueue(CALL, new Call(i)).run();
            awaitState(node, run, i % 2 == 0 ? RunState.DEAD : RunState.SUCCEEDED);
        }

        assertThat(answered).hasValue(20);
        assertThat(fixture.query("SELECT count(*) FROM carillon.lane_attempt_stats")
                        .number())
                .isZero();
        assertThat(fixture.query("SELECT count(*) FROM carillon.lane").number()).isZero();
    }

    @Tag("slow")
    @Test
    void failures_that_the_handler_counts_as_successes_leave_the_breaker_closed() {
        fixture.client(builder -> builder).queues().breaker("call", true);
        Carillon node = fixture.node(builder -> builder.handle(
                CALL,
                (call, run) -> {
                    calls.incrementAndGet();
                    run.countAsSuccessForBreaker();
                    throw new IllegalArgumentException("invalid input");
                },
                HandlerOptions.defaults().retry(Retry.none())));
        node.enqueueAll(CALL, Collections.nCopies(30, new Call(1)));

        eventually()
                .until(() -> fixture.query("SELECT coalesce(sum(succeeded), 0) FROM carillon.lane_attempt_stats"
                                        + " WHERE failed = 0")
                                .number()
                        == 30);
        assertThat(node.queues().list())
                .extracting(QueueInfo::breaker)
                .containsExactly(new QueueInfo.Breaker("closed", null));
    }

    private static String breaker(Carillon carillon) {
        return carillon.queues().list().stream()
                .filter(queue -> queue.name().equals("partner"))
                .findFirst()
                .map(queue -> queue.breaker().state())
                .orElseThrow();
    }
}
