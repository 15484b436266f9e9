package io.carillon.internal.engine.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(60)
public class LoopTest {
    static List<Throwable> everyKind() {
        return List.of(
                new IllegalStateException("runtime"),
                new SQLException("sql", "57P01"),
                new StackOverflowError(),
                new NoClassDefFoundError("gone"),
                new InterruptedException("unexpected"),
                new Throwable("bare"));
    }

    @Test
    void work_that_was_slow_twice_runs_rarely_unless_requested() {
        Loop.CostLimitedTimer costLimitedTimer = new Loop.CostLimitedTimer(Duration.ZERO);
        assertThat(costLimitedTimer.isDue()).isTrue();

        costLimitedTimer.recordCost(Duration.ofSeconds(1).toNanos());
        assertThat(costLimitedTimer.isDue()).as("slow once").isTrue();
        costLimitedTimer.recordCost(Duration.ofSeconds(1).toNanos());
        assertThat(costLimitedTimer.isDue()).as("slow twice").isFalse();
        costLimitedTimer.runSoon();
        assertThat(costLimitedTimer.isDue()).as("requested").isTrue();
    }

    @ParameterizedTest
    @MethodSource("everyKind")
    void goes_on_after_everything_a_round_throws(Throwable failure) throws Exception {
        Faulty faulty = new Faulty(failure, null);
        Loop loop = faulty.loop;
        try (loop) {
            loop.start();

            assertThat(faulty.fine.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(loop.isAlive()).isTrue();
        }
        assertThat(loop.isFailing()).isFalse();
        assertThat(loop.isAlive()).isFalse();
        assertThat(loop.rounds()).isPositive();
        if (!(failure instanceof InterruptedException))
            assertThat(loop.failures()).isEqualTo(2);
    }

    @ParameterizedTest
    @MethodSource("everyKind")
    void goes_on_even_if_the_failure_callback_throws(Throwable failure) throws Exception {
        Faulty faulty = new Faulty(new IllegalStateException("turn"), failure);
        Loop loop = faulty.loop;
        try (loop) {
            loop.start();

            assertThat(faulty.fine.await(10, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(loop.failures()).isEqualTo(2);
    }

    @Test
    void reports_that_it_fails_while_it_fails() throws Exception {
        CountDownLatch failed = new CountDownLatch(3);
        Loop loop = new Loop("always", true, () -> {
            failed.countDown();
            throw new IllegalStateException("always");
        });
        try (loop) {
            loop.start();
            assertThat(failed.await(10, TimeUnit.SECONDS)).isTrue();

            assertThat(loop.isFailing()).isTrue();
            assertThat(loop.rounds()).isZero();
        }
    }

    @Test
    void ends_promptly_out_of_a_long_sleep() throws Exception {
        CountDownLatch asleep = new CountDownLatch(1);
        AtomicReference<Loop> self = new AtomicReference<>();
        Loop loop = new Loop("sleeper", true, () -> {
            asleep.countDown();
            self.get().sleep(Duration.ofHours(1).toNanos());
        });
        self.set(loop);
        loop.start();
        assertThat(asleep.await(10, TimeUnit.SECONDS)).isTrue();
        long before = System.nanoTime();

        loop.close();

        assertThat(loop.isAlive()).isFalse();
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(2));
    }

    @Test
    void interrupts_a_round_that_does_not_end_by_itself() throws Exception {
        CountDownLatch stuck = new CountDownLatch(1);
        Loop loop = new Loop("stuck", true, () -> {
            stuck.countDown();
            new CountDownLatch(1).await();
        });
        loop.start();
        assertThat(stuck.await(10, TimeUnit.SECONDS)).isTrue();

        loop.close();

        assertThat(loop.isAlive()).isFalse();
    }

    @Test
    void may_be_closed_before_it_was_started() {
        Loop loop = new Faulty(new IllegalStateException(), null).loop;

        loop.close();

        assertThat(loop.isAlive()).isFalse();
    }

    /** A task whose first two rounds fail. */
    private static final class Faulty implements Loop.Task {
        private final Loop loop = new Loop("faulty", true, this);
        private final CountDownLatch fine = new CountDownLatch(3);
        private final AtomicInteger calls = new AtomicInteger();
        private final Throwable failure;
        private final Throwable alsoFails;

        Faulty(Throwable failure, Throwable alsoFails) {
            this.failure = failure;
            this.alsoFails = alsoFails;
        }

        @Override
        public void runRound() throws InterruptedException {
            if (calls.incrementAndGet() <= 2) throw LoopTest.<RuntimeException>sneaky(failure);
            fine.countDown();
            loop.sleep(1_000_000);
        }

        @Override
        public void onFailure(Throwable turn) {
            if (alsoFails != null) throw LoopTest.<RuntimeException>sneaky(alsoFails);
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    public static <E extends Throwable> E sneaky(Throwable error) throws E {
        throw (E) error;
    }
}
