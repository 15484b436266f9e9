package io.carillon.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class FireLatenciesTest {
    private static final Instant FIRST = Instant.parse("2026-06-01T12:00:00Z");
    private static final long MILLI = 1_000_000;

    private final FireLatencies latencies = new FireLatencies(FIRST, MILLI, 4);

    @Test
    void counts_missing_and_repeated_fires() {
        fire(0, 1);
        fire(1, 1);
        fire(1, 9);
        fire(3, 1);

        assertThat(latencies.missing(0, 4)).isEqualTo(1);
        assertThat(latencies.missing(0, 2)).isZero();
        assertThat(latencies.duplicates(0, 4)).isEqualTo(1);
        assertThat(latencies.duplicates(2, 4)).isZero();
    }

    @Test
    void records_the_lateness_of_the_first_start() {
        fire(0, 2);
        fire(1, 7);
        fire(1, 90);

        assertThat(latencies.lateMillis(0, 2).max()).isEqualTo(7);
        assertThat(latencies.lateMillis(0, 2).min()).isEqualTo(2);
    }

    @Test
    void instants_outside_the_grid_do_not_count() {
        fire(-1, 1);
        fire(4, 1);

        assertThat(latencies.missing(0, 4)).isEqualTo(4);
    }

    @Test
    void a_part_in_which_nothing_fired_is_infinitely_late() {
        assertThat(latencies.lateMillis(0, 4).percentile(50)).isInfinite();
    }

    private void fire(int slot, long lateMillis) {
        Instant planned = FIRST.plusNanos(slot * MILLI);
        latencies.fired(planned, ServerTime.nanos(planned) + lateMillis * MILLI);
    }
}
