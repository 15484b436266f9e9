package io.carillon.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.RandomTrials;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetryTest {
    private static final Duration YEAR = Duration.ofDays(365);

    @Test
    void defaults_are_eight_attempts_from_five_seconds_doubling_up_to_an_hour() {
        Retry retry = Retry.defaults();

        List<Long> seconds = IntStream.rangeClosed(1, 12)
                .mapToObj(n -> retry.longestDelay(n).toSeconds())
                .toList();

        assertThat(retry.attempts()).isEqualTo(8);
        assertThat(seconds).containsExactly(5L, 10L, 20L, 40L, 80L, 160L, 320L, 640L, 1280L, 2560L, 3600L, 3600L);
    }

    @Test
    void raises_the_cap_to_a_larger_first_delay() {
        assertThat(Retry.exponential(Duration.ofHours(3)).cap()).isEqualTo(Duration.ofHours(3));
        assertThat(Retry.exponential(Duration.ofSeconds(3)).cap()).isEqualTo(Duration.ofHours(1));
        assertThat(Retry.none().attempts()).isEqualTo(1);
    }

    @Test
    void pauses_within_bounds_whatever_the_policy_and_however_often_it_failed() {
        RandomTrials.run("pauses stay between nothing and the cap", 20_000, random -> {
            Duration cap = Duration.ofMillis(random.nextLong(YEAR.toMillis() + 1));
            Retry retry = Retry.exponential(Duration.ofMillis(random.nextLong(cap.toMillis() + 1)))
                    .factor(1 + random.nextDouble() * 99)
                    .cap(cap)
                    .attempts(1 + random.nextInt(10_000))
                    .jitter(random.nextBoolean() ? random.nextDouble() : random.nextInt(2));
            int failures = random.nextBoolean() ? 1 + random.nextInt(20) : random.nextInt(Integer.MAX_VALUE);

            Duration longest = retry.longestDelay(failures);
            Duration pause = retry.delay(failures, random);

            assertThat(longest).isBetween(Duration.ZERO, retry.cap());
            assertThat(longest).isLessThanOrEqualTo(retry.longestDelay(Math.min(failures, 1_000_000) + 1));
            long fixed = (long) (longest.toMillis() * (1 - retry.jitter()));
            // One millisecond for rounding.
            assertThat(pause).isBetween(Duration.ofMillis(Math.max(0, fixed - 1)), longest);
        });
    }

    @Test
    void spreads_delays_over_the_whole_range() {
        Retry retry = Retry.exponential(Duration.ofSeconds(100));
        Random random = new Random(7);

        List<Long> pauses = IntStream.range(0, 2_000)
                .mapToObj(i -> retry.delay(1, random).toMillis())
                .toList();

        // Full jitter: each tenth of the range gets its share.
        for (int tenth = 0; tenth < 10; tenth++) {
            long low = tenth * 10_000L;
            assertThat(pauses).filteredOn(ms -> ms >= low && ms <= low + 10_000).hasSizeBetween(130, 270);
        }
    }

    @Test
    void the_jitter_is_the_part_of_a_delay_that_is_random() {
        Retry retry = Retry.exponential(Duration.ofSeconds(100));
        Random random = new Random(7);

        List<Long> pauses = IntStream.range(0, 1_000)
                .mapToObj(i -> retry.jitter(0.1).delay(1, random).toMillis())
                .toList();

        assertThat(pauses).allMatch(ms -> ms >= 90_000 && ms <= 100_000);
        assertThat(pauses).anyMatch(ms -> ms < 91_000).anyMatch(ms -> ms > 99_000);
        assertThat(retry.jitter(0).delay(1, random)).isEqualTo(Duration.ofSeconds(100));
        assertThat(Retry.defaults().jitter()).isEqualTo(1);
    }

    @Test
    void a_first_delay_of_zero_stays_zero() {
        Retry retry = Retry.exponential(Duration.ZERO);

        assertThat(retry.longestDelay(1)).isZero();
        assertThat(retry.longestDelay(Integer.MAX_VALUE)).isZero();
        assertThat(retry.delay(5_000, new Random(1))).isZero();
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.99, -1, 100.1, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY})
    void refuses_invalid_factors(double factor) {
        refused(() -> Retry.defaults().factor(factor), "factor");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE, 10_001, Integer.MAX_VALUE})
    void refuses_invalid_attempts(int attempts) {
        refused(() -> Retry.defaults().attempts(attempts), "attempts");
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 365L * 86_400 + 1})
    void refuses_invalid_delays(long seconds) {
        refused(() -> Retry.exponential(Duration.ofSeconds(seconds)), "first");
        refused(() -> Retry.defaults().cap(Duration.ofSeconds(seconds)), "cap");
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.1, 1.1, Double.NaN, Double.POSITIVE_INFINITY})
    void refuses_invalid_jitter(double jitter) {
        refused(() -> Retry.defaults().jitter(jitter), "jitter");
    }

    @Test
    void refuses_a_cap_below_the_first_delay() {
        assertThatThrownBy(() -> Retry.exponential(Duration.ofSeconds(3)).cap(Duration.ofSeconds(2)))
                .isInstanceOf(CarillonException.class)
                .hasMessage("Retry: first must not exceed cap (was PT3S > PT2S).");
    }

    private static void refused(Supplier<Retry> retry, String what) {
        CarillonException refusal = catchThrowableOfType(CarillonException.class, retry::get);

        assertThat(refusal).isNotNull();
        assertThat(refusal.code()).isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(refusal).hasMessageContaining(what).hasMessageContaining("must be between");
    }
}
