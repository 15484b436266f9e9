package io.carillon.internal.store.stats;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Stats.RunStats;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class DurationHistogramTest {
    private static DurationHistogram of(List<Long> micros) {
        List<Long> buckets = new ArrayList<>(Collections.nCopies(DurationHistogram.BUCKETS, 0L));
        long sum = 0;
        for (long one : micros) {
            buckets.set(DurationHistogram.bucketOf(one), buckets.get(DurationHistogram.bucketOf(one)) + 1);
            sum += one;
        }
        return new DurationHistogram(sum, buckets);
    }

    @Test
    void each_bucket_has_its_upper_bound_and_twice_the_bound_of_the_one_before() {
        long bound = 250;
        for (int bucket = 0; bucket < DurationHistogram.BUCKETS - 1; bucket++) {
            assertThat(DurationHistogram.bucketOf(bound)).isEqualTo(bucket);
            assertThat(DurationHistogram.bucketOf(bound + 1)).isEqualTo(bucket + 1);
            bound *= 2;
        }
        assertThat(DurationHistogram.bucketOf(Long.MAX_VALUE)).isEqualTo(DurationHistogram.BUCKETS - 1);
        assertThat(DurationHistogram.bucketOf(0)).isZero();
        assertThat(DurationHistogram.bucketOf(-5)).isZero();
    }

    @Test
    void percentiles_are_within_a_factor_of_two_and_the_mean_is_exact() {
        List<Long> micros = new ArrayList<>();
        for (long millis = 1; millis <= 1_000; millis++) micros.add(millis * 1_000);

        RunStats.Times times = of(micros).times();

        assertThat(times.count()).isEqualTo(1_000);
        assertThat(times.mean()).isEqualTo(Duration.ofNanos(500_500_000));
        assertThat(times.p50().toMillis()).isCloseTo(500, Percentage.withPercentage(5));
        assertThat(times.p95().toMillis()).isBetween(900L, 1_000L);
        assertThat(times.p99().toMillis()).isBetween(950L, 1_030L);
    }

    @Test
    void a_sum_has_the_durations_of_both_and_no_trailing_zeros() {
        DurationHistogram sum = of(List.of(100L, 100L)).plus(of(List.of(5_000L)));

        assertThat(sum.micros()).isEqualTo(5_200);
        assertThat(sum.count()).isEqualTo(3);
        assertThat(sum.buckets()).hasSize(DurationHistogram.bucketOf(5_000) + 1);
        assertThat(sum.buckets().get(0)).isEqualTo(2);
        assertThat(DurationHistogram.EMPTY.plus(sum)).isEqualTo(sum);
        assertThat(DurationHistogram.EMPTY.times()).isEqualTo(RunStats.Times.NONE);
    }
}
