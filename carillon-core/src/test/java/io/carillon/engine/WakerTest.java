package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WakerTest {
    private static final long LONG = Duration.ofMinutes(10).toNanos();
    private final Waker waker = new Waker();

    @Test
    void ends_a_sleep_that_has_begun() throws Exception {
        CountDownLatch asleep = new CountDownLatch(1);
        CompletableFuture<Boolean> woken = CompletableFuture.supplyAsync(() -> {
            asleep.countDown();
            return sleep(LONG);
        });
        asleep.await();

        waker.wake();

        assertThat(woken.get(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void remembers_a_wake_that_came_before_the_sleep_but_only_once() {
        waker.wake();
        waker.wake();

        assertThat(sleep(LONG)).isTrue();
        assertThat(sleep(1)).isFalse();
    }

    @Test
    void does_not_sleep_for_nothing_or_less() {
        assertThat(sleep(0)).isFalse();
        assertThat(sleep(-LONG)).isFalse();
        waker.wake();
        assertThat(sleep(-1)).isTrue();
    }

    @Test
    void sleeps_as_long_as_told_when_nobody_wakes_it() {
        long before = System.nanoTime();

        assertThat(sleep(30_000_000)).isFalse();

        assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(30_000_000);
    }

    private boolean sleep(long nanos) {
        try {
            return waker.sleep(nanos);
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
