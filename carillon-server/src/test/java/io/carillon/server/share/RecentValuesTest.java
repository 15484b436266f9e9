package io.carillon.server.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RecentValuesTest {
    private static final Duration TWO_SECONDS = Duration.ofSeconds(2);

    private final AtomicLong nanos = new AtomicLong(1);
    private final AtomicInteger calls = new AtomicInteger();
    private final RecentValues<String, Integer> values = new RecentValues<>(nanos::get);

    @Test
    void callers_that_accept_a_value_of_that_age_receive_it() {
        assertThat(values.get("a", TWO_SECONDS, calls::incrementAndGet)).isOne();
        nanos.addAndGet(Duration.ofMillis(1_900).toNanos());

        assertThat(values.get("a", TWO_SECONDS, calls::incrementAndGet)).isOne();
        assertThat(values.get("a", Duration.ofSeconds(1), calls::incrementAndGet))
                .isEqualTo(2);
        assertThat(values.get("b", TWO_SECONDS, calls::incrementAndGet)).isEqualTo(3);
        nanos.addAndGet(Duration.ofMillis(2_001).toNanos());
        assertThat(values.get("a", TWO_SECONDS, calls::incrementAndGet)).isEqualTo(4);
    }

    @Test
    void callers_at_the_same_time_wait_for_one_value() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch mayAnswer = new CountDownLatch(1);
        CompletableFuture<Integer> first = CompletableFuture.supplyAsync(() -> values.get("a", TWO_SECONDS, () -> {
            asked.countDown();
            try {
                mayAnswer.await();
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
            return calls.incrementAndGet();
        }));
        asked.await();
        CompletableFuture<Integer> second =
                CompletableFuture.supplyAsync(() -> values.get("a", TWO_SECONDS, calls::incrementAndGet));
        mayAnswer.countDown();

        assertThat(second.get(30, TimeUnit.SECONDS)).isEqualTo(first.get(30, TimeUnit.SECONDS));
        assertThat(calls).hasValue(1);
    }

    @Test
    void a_failure_is_not_kept() {
        assertThatThrownBy(() -> values.get("a", TWO_SECONDS, () -> {
                    throw new IllegalStateException("away");
                }))
                .hasMessage("away");

        assertThat(values.get("a", TWO_SECONDS, calls::incrementAndGet)).isOne();
    }
}
