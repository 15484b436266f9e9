package io.carillon.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ArrivalCounterTest {

    @Test
    void counts_missing_and_duplicate_arrivals() {
        ArrivalCounter arrivals = new ArrivalCounter(3);
        arrivals.arrived(2);
        arrivals.arrived(0);
        arrivals.arrived(2);

        assertThat(arrivals.distinct()).isEqualTo(2);
        assertThat(arrivals.missing()).isEqualTo(1);
        assertThat(arrivals.duplicates()).isEqualTo(1);
    }

    @Test
    void a_drain_that_lost_a_job_fails_the_measurement() {
        DrainResult drainResult = new DrainResult(3, 1.0, 1, 0, new CpuMeter.Used(0, 0));

        assertThatThrownBy(() -> drainResult.requireComplete("peer"))
                .isInstanceOf(MeasureException.class)
                .hasMessageContaining("peer drained 3 jobs, but 1 did not run and 0 ran twice");
    }
}
