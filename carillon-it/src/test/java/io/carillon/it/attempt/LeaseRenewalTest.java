package io.carillon.it.attempt;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.engine.DueRunExecutor;
import io.carillon.internal.engine.EngineParts;
import io.carillon.internal.engine.attempt.BoundHandler;
import io.carillon.internal.engine.listener.Listeners;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.run.RetryRule;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.it.fixture.FaultyStorage;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.Retry;
import io.carillon.run.RunContext;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The leases of {@code runDue} while a handler runs for longer than a lease. The database clock is stopped, so a lease
 * expires only if the test advances the clock; leases are renewed in real time.
 */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class LeaseRenewalTest {
    record Job(String name) {}

    private interface HandlerCode {
        void run(RunContext context) throws Exception;
    }

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final Duration BUDGET = Duration.ofSeconds(30);
    private static final Duration LEASE = Duration.ofMillis(600);
    /** Shorter than a lease. Two steps without a renewal are longer. */
    private static final Duration STEP = Duration.ofMillis(400);

    private static final int STEPS = 6;
    private static final int ALWAYS = Integer.MAX_VALUE;

    private final Queue<String> done = new ConcurrentLinkedQueue<>();
    private final AtomicInteger renewalsToFail = new AtomicInteger();
    private final TestClock clock;
    private final ApiFixture fixture;
    private final DataSource source;
    private final Storage storage;

    LeaseRenewalTest(TestDatabase database, TestClock clock) {
        this.fixture = new ApiFixture(database);
        this.clock = clock;
        this.source = database.pool(8);
        this.storage = new PostgresStorage(source, TickPlanner.defaults());
    }

    @AfterEach
    void close() {
        storage.close();
        fixture.close();
    }

    @Test
    void a_handler_that_takes_several_leases_keeps_its_run() {
        DueRunExecutor other = executor(context -> done.add("other"));
        DueRunExecutor first = executor(context -> {
            assertThat(renewalThreads()).as("helper threads during the call").isEqualTo(1);
            for (int step = 0; step < STEPS; step++) {
                clock.advance(STEP);
                awaitRenewal();
                assertThat(other.runDue(BUDGET)).isEqualTo(new DueRunExecutor.Result(0, 0));
            }
            done.add("first");
        });
        enqueue();

        assertThat(first.runDue(BUDGET)).isEqualTo(new DueRunExecutor.Result(1, 0));

        assertThat(done).containsExactly("first");
        assertEnded("succeeded, attempt 1, failures 0, crashes 0, node deaths 0");
        assertThat(renewalThreads()).as("helper threads after the call").isZero();
    }

    @Test
    void a_lease_survives_renewals_that_fail_if_a_later_one_succeeds_in_time() {
        DueRunExecutor other = executor(context -> done.add("other"));
        DueRunExecutor first = executor(context -> {
            for (int step = 0; step < 2; step++) {
                renewalsToFail.set(3);
                clock.advance(STEP);
                awaitRenewal();
                assertThat(renewalsToFail.get()).as("renewals left to fail").isLessThanOrEqualTo(0);
                assertThat(other.runDue(BUDGET)).isEqualTo(new DueRunExecutor.Result(0, 0));
            }
            done.add("first");
        });
        enqueue();

        assertThat(first.runDue(BUDGET)).isEqualTo(new DueRunExecutor.Result(1, 0));

        assertThat(done).containsExactly("first");
        assertEnded("succeeded, attempt 1, failures 0, crashes 0, node deaths 0");
    }

    @Test
    void a_handler_whose_lease_expired_is_interrupted_and_its_result_is_rejected() {
        DueRunExecutor other = executor(context -> done.add("other"));
        DueRunExecutor first = executor(context -> {
            renewalsToFail.set(ALWAYS);
            // Repeated, because a renewal that was under way when the failures began may still succeed.
            eventually().until(() -> {
                clock.advance(LEASE.plusMillis(1));
                return other.runDue(BUDGET).processed() == 1;
            });
            renewalsToFail.set(0);
            try {
                assertThat(new CountDownLatch(1).await(30, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException leaseLost) {
                done.add("interrupted, flag " + context.isStopRequested());
            }
        });
        enqueue();

        assertThat(first.runDue(BUDGET)).isEqualTo(new DueRunExecutor.Result(1, 1));

        assertThat(done).containsExactly("other", "interrupted, flag true");
        assertEnded("succeeded, attempt 2, failures 0, crashes 0, node deaths 0");
        assertThat(renewalThreads()).as("helper threads after the call").isZero();
    }

    private DueRunExecutor executor(HandlerCode handlerCode) {
        Storage faulty = FaultyStorage.around(storage, (point, call) -> {
            boolean fails =
                    point.equals("nodes.renewLeases") && renewalsToFail.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
            if (fails) throw new SQLException("injected", "08006");
            return call.call();
        });
        BoundHandler handler = new BoundHandler(
                JOB.name(),
                Duration.ofMinutes(5),
                new RetryRule(Retry.exponential(Duration.ZERO), List.of()),
                false,
                (attempt, context, connection) -> {
                    handlerCode.run(context);
                    return Outcome.succeeded(null);
                });
        return new DueRunExecutor(
                new EngineParts(
                        faulty,
                        Map.of(JOB.name(), handler),
                        source::getConnection,
                        Listeners.none(),
                        TickPlanner.defaults(),
                        new EngineParts.NodeIdentity("caller", "here", 1, "test")),
                LEASE);
    }

    private void enqueue() {
        fixture.client(builder -> builder).enqueue(JOB, new Job("x"));
    }

    /** Waits until the lease of the only run ends one lease after the current database time. */
    private void awaitRenewal() {
        eventually()
                .until(() -> fixture.query("SELECT count(*) FROM carillon.run WHERE leased_until"
                                        + " = carillon.clock() + make_interval(secs => " + LEASE.toMillis()
                                        + " / 1000.0)")
                                .number()
                        == 1);
    }

    private void assertEnded(String expected) {
        assertThat(fixture.query("SELECT state || ', attempt ' || attempt || ', failures ' || failures || ', crashes '"
                                + " || crashes || ', node deaths ' || node_deaths FROM carillon.run_history")
                        .texts())
                .containsExactly(expected);
        assertThat(fixture.query("SELECT count(*) FROM carillon.run").number()).isZero();
    }

    private static long renewalThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("carillon-lease-renew"))
                .count();
    }
}
