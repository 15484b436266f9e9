package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdaptiveIntervalTest {
    private static final AdaptiveInterval ADAPTIVE =
            new AdaptiveInterval(Duration.ofSeconds(10), Duration.ofSeconds(60));

    @ParameterizedTest
    @CsvSource({
        "40, 0, 1, 20",
        "40, 5, 9, 20",
        "15, 0, 1, 10",
        "10, 0, 1, 10", // growing: half, but at least the minimum
        "40, 5, 5, 40",
        "40, 9, 1, 40", // neither growing nor empty
        "20, 0, 0, 30",
        "20, 9, 0, 30",
        "41, 0, 0, 60",
        "60, 0, 0, 60" // empty: one and a half times, but at most the maximum
    })
    void halves_when_the_backlog_grows_and_gains_half_when_it_is_empty(long current, long before, long now, long next) {
        assertThat(ADAPTIVE.next(Duration.ofSeconds(current), before, now)).isEqualTo(Duration.ofSeconds(next));
    }

    @Test
    void refuses_invalid_bounds() {
        for (List<Long> bounds :
                List.of(List.of(9_000L, 60_000L), List.of(60_000L, 60_000L), List.of(10_500L, 60_000L)))
            assertThatThrownBy(() -> When.adaptive(Duration.ofMillis(bounds.get(0)), Duration.ofMillis(bounds.get(1))))
                    .isInstanceOf(CarillonException.class);
    }

    @Test
    void the_current_interval_is_not_part_of_the_definition_but_the_bounds_are() {
        When wanted = When.adaptive(Duration.ofSeconds(10), Duration.ofSeconds(60));
        When stored = wanted.withPeriod(Duration.ofSeconds(45), Instant.parse("2026-05-04T12:00:00Z"));

        assertThat(wanted).isNotEqualTo(stored);
        assertThat(wanted.withCurrentIntervalOf(stored)).isEqualTo(stored);
        assertThat(When.adaptive(Duration.ofSeconds(10), Duration.ofSeconds(61))
                        .withCurrentIntervalOf(stored)
                        .fixedPeriod())
                .isEqualTo(Duration.ofSeconds(10));
        assertThat(stored.describe()).isEqualTo("every 10 to 60 seconds, by backlog");
    }
}
