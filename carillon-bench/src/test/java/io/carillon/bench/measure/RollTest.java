package io.carillon.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class RollTest {

    @Test
    void tells_who_is_missing_and_who_came_twice() {
        Roll roll = new Roll(3);
        roll.here(2);
        roll.here(0);
        roll.here(2);

        assertThat(roll.present()).isEqualTo(2);
        assertThat(roll.missing()).isEqualTo(1);
        assertThat(roll.twice()).isEqualTo(1);
    }

    @Test
    void a_drain_that_lost_a_job_has_no_speed() {
        Drained drained = new Drained(3, 1.0, 1, 0, new CpuMeter.Used(0, 0));

        assertThatThrownBy(() -> drained.verified("somebody"))
                .isInstanceOf(MeasureException.class)
                .hasMessageContaining("somebody drained 3 jobs, but 1 did not run and 0 ran twice");
    }
}
