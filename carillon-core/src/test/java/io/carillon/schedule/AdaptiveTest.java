package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.value.CarillonException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdaptiveTest {
    private static final Adaptive ADAPTIVE = new Adaptive(Duration.ofSeconds(10), Duration.ofSeconds(60));

    @ParameterizedTest
    @CsvSource({
        "40, 0, 1, 20",
        "40, 5, 9, 20",
        "15, 0, 1, 10",
        "10, 0, 1, 10", // growing: half of it, not below the least
        "40, 5, 5, 40",
        "40, 9, 1, 40", // neither growing nor empty
        "20, 0, 0, 30",
        "20, 9, 0, 30",
        "41, 0, 0, 60",
        "60, 0, 0, 60" // empty: half as much again, not above the most
    })
    void halves_when_the_backlog_grows_and_gains_half_when_it_is_empty(long current, long before, long now, long next) {
        assertThat(ADAPTIVE.next(Duration.ofSeconds(current), before, now)).isEqualTo(Duration.ofSeconds(next));
    }

    @Test
    void refuses_bounds_it_could_not_keep() {
        for (List<Long> bounds :
                List.of(List.of(9_000L, 60_000L), List.of(60_000L, 60_000L), List.of(10_500L, 60_000L)))
            assertThatThrownBy(() -> When.adaptive(Duration.ofMillis(bounds.get(0)), Duration.ofMillis(bounds.get(1))))
                    .isInstanceOf(CarillonException.class);
    }

    @Test
    void the_pace_is_no_part_of_the_promise_but_the_bounds_are() {
        When wanted = When.adaptive(Duration.ofSeconds(10), Duration.ofSeconds(60));
        When stored = wanted.paced(Duration.ofSeconds(45), Instant.parse("2026-05-04T12:00:00Z"));

        assertThat(wanted).isNotEqualTo(stored);
        assertThat(wanted.atPaceOf(stored)).isEqualTo(stored);
        assertThat(When.adaptive(Duration.ofSeconds(10), Duration.ofSeconds(61))
                        .atPaceOf(stored)
                        .step())
                .isEqualTo(Duration.ofSeconds(10));
        assertThat(stored.describe()).isEqualTo("every 10 to 60 seconds, by backlog");
    }
}
