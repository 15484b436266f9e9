package io.carillon.internal.value;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DurationsTest {
    @ParameterizedTest
    @CsvSource({
        "PT0S, 0 ms",
        "PT0.25S, 250 ms",
        "PT1S, 1 second",
        "PT1.5S, 1500 ms",
        "PT90S, 90 seconds",
        "PT1M, 1 minute",
        "PT120S, 2 minutes",
        "PT90M, 90 minutes",
        "PT60M, 1 hour",
        "PT36H, 36 hours",
        "PT24H, 1 day",
        "PT48H, 2 days"
    })
    void describes_a_duration_in_the_largest_unit_without_a_fraction(Duration duration, String words) {
        assertThat(Durations.describe(duration)).isEqualTo(words);
    }
}
