package io.carillon.it.limit;

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
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The breaker of a queue whose target is down, on real nodes. */
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
        Carillon one = fixture.node(this::calls);
        fixture.node(this::calls);
        one.enqueueAll(CALL, Collections.nCopies(60, new Call(1)));

        eventually().until(() -> breaker(one) != null);
        assertThat(one.health().issues())
                .anyMatch(issue -> issue.kind() == Health.Kind.BREAKER_OPEN
                        && issue.text().contains("the breaker of queue 'partner'"));
        eventually()
                .until(() -> fixture.query("SELECT count(*) FROM carillon.run WHERE owner IS NOT NULL")
                                .number()
                        == 0);
        // A node reports its counts every five seconds until it has learned that the breaker is open. Counts from
        // before the opening must not meet the probe, which this test brings forward: the breaker has been open for
        // seven of its thirty seconds, and no report came in during that time.
        eventually().until(() -> fixture.query("""
                        SELECT count(*) FROM carillon.lane l
                         WHERE l.queue = 'partner' AND l.breaker_until - interval '23 s' < carillon.clock()
                           AND NOT EXISTS (SELECT 1 FROM carillon.lane_attempt_stats s
                                            WHERE s.queue = l.queue AND s.at > carillon.clock() - interval '7 s')
                        """).number() == 1);
        int before = calls.get();
        down = false;

        fixture.database().execute("UPDATE carillon.lane SET breaker_until = carillon.clock()");

        eventually().until(() -> calls.get() == before + 1);
        eventually().until(() -> breaker(one).state().equals("half-open"));
        assertThat(fixture.query("SELECT count(*) FROM carillon.run WHERE owner IS NOT NULL")
                        .number())
                .isEqualTo(1);
        repaired.countDown();
        eventually().until(() -> answered.get() == 60);
        assertThat(breaker(one)).isNull();
        assertThat(one.health().issues()).isEmpty();
    }

    @Test
    void runs_executed_by_run_due_open_and_close_the_breaker_too() {
        Carillon client = fixture.client(this::calls);
        client.enqueueAll(CALL, Collections.nCopies(60, new Call(1)));

        client.runDue(Duration.ofSeconds(20));

        assertThat(breaker(client)).isNotNull();
        assertThat(calls.get()).isBetween(20, 30);
        int before = calls.get();
        assertThat(client.runDue(Duration.ofSeconds(5)).processed()).isZero();
        down = false;
        repaired.countDown();
        fixture.database().execute("UPDATE carillon.lane SET breaker_until = carillon.clock()");
        client.runDue(Duration.ofSeconds(20));
        assertThat(breaker(client)).isNull();
        assertThat(calls.get()).isGreaterThan(before);
    }

    private static QueueInfo.Breaker breaker(Carillon carillon) {
        return carillon.queues().list().stream()
                .filter(queue -> queue.name().equals("partner"))
                .findFirst()
                .map(QueueInfo::breaker)
                .orElse(null);
    }
}
