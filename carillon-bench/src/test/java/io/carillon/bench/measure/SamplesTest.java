package io.carillon.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SamplesTest {

    @Test
    void percentiles_are_values_that_were_measured() {
        Samples hundred = Samples.of(
                IntStream.rangeClosed(1, 100).map(i -> 101 - i).asDoubleStream().toArray());

        assertThat(hundred.percentile(0)).isEqualTo(1);
        assertThat(hundred.percentile(50)).isEqualTo(50);
        assertThat(hundred.percentile(99)).isEqualTo(99);
        assertThat(hundred.percentile(99.5)).isEqualTo(100);
        assertThat(hundred.percentile(100)).isEqualTo(100);
    }

    @Test
    void the_median_of_an_even_number_is_the_mean_of_the_two_middle_values() {
        assertThat(Samples.of(4, 1, 3, 2).median()).isEqualTo(2.5);
        assertThat(Samples.of(9, 1, 5).median()).isEqualTo(5);
    }

    @Test
    void empty_samples_are_refused() {
        assertThatIllegalArgumentException().isThrownBy(() -> Samples.of()).withMessageContaining("at least one");
    }
}
