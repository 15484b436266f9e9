package io.carillon.internal.engine.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WakeableSleepTest {
    private static final long LONG = Duration.ofMinutes(10).toNanos();
    private final WakeableSleep wakeableSleep = new WakeableSleep();

    @Test
    void ends_a_sleep_that_has_begun() throws Exception {
        CountDownLatch asleep = new CountDownLatch(1);
        CompletableFuture<Boolean> woken = CompletableFuture.supplyAsync(() -> {
            asleep.countDown();
            return sleep(LONG);
        });
        asleep.await();

        wakeableSleep.wake();

        assertThat(woken.get(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void a_wake_up_before_the_sleep_ends_the_next_sleep_once() {
        wakeableSleep.wake();
        wakeableSleep.wake();

        assertThat(sleep(LONG)).isTrue();
        assertThat(sleep(1)).isFalse();
    }

    @Test
    void does_not_sleep_for_zero_or_negative_time() {
        assertThat(sleep(0)).isFalse();
        assertThat(sleep(-LONG)).isFalse();
        wakeableSleep.wake();
        assertThat(sleep(-1)).isTrue();
    }

    @Test
    void sleeps_for_the_given_time_without_a_wake_up() {
        long before = System.nanoTime();

        assertThat(sleep(30_000_000)).isFalse();

        assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(30_000_000);
    }

    private boolean sleep(long nanos) {
        try {
            return wakeableSleep.sleep(nanos);
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
