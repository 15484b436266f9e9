package io.carillon.internal.engine.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.engine.wakeup.WakeupController;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class PollIntervalTest {
    private static final Duration MIN = Duration.ofMillis(500);
    private static final Duration MAX = Duration.ofSeconds(30);
    private final WakeupController.PollInterval pace = new WakeupController.PollInterval(MIN, MAX);

    @Test
    void starts_at_the_minimum() {
        assertThat(pace.current()).isEqualTo(MIN);
    }

    @Test
    void an_empty_poll_lengthens_the_interval_by_a_fifth_and_a_find_shortens_it() {
        pace.recordPoll(false);
        pace.recordPoll(false);
        assertThat(pace.current()).isEqualTo(Duration.ofMillis(720));

        pace.recordPoll(true);
        assertThat(pace.current()).isEqualTo(Duration.ofMillis(576));
    }

    @Test
    void keeps_within_its_bounds() {
        for (int i = 0; i < 100; i++) pace.recordPoll(false);
        assertThat(pace.current()).isEqualTo(MAX);

        for (int i = 0; i < 100; i++) pace.recordPoll(true);
        assertThat(pace.current()).isEqualTo(MIN);
    }

    @Test
    void its_bounds_can_change_at_run_time() {
        for (int i = 0; i < 100; i++) pace.recordPoll(false);

        pace.setBounds(MIN, Duration.ofSeconds(1));
        assertThat(pace.current()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void a_node_of_a_large_cluster_may_poll_ten_times_more_rarely_but_not_for_minutes() {
        assertThat(pace.maxInCluster()).isEqualTo(MAX);
        assertThat(new WakeupController.PollInterval(Duration.ofSeconds(1), Duration.ofSeconds(1)).maxInCluster())
                .isEqualTo(Duration.ofSeconds(10));
    }
}
