package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class PollPaceTest {
    private static final Duration LEAST = Duration.ofMillis(500);
    private static final Duration MOST = Duration.ofSeconds(30);
    private final Waking.PollPace pace = new Waking.PollPace(LEAST, MOST);

    @Test
    void begins_as_often_as_it_may() {
        assertThat(pace.now()).isEqualTo(LEAST);
    }

    @Test
    void a_look_in_vain_makes_it_a_fifth_rarer_and_a_find_a_fifth_more_frequent() {
        pace.looked(false);
        pace.looked(false);
        assertThat(pace.now()).isEqualTo(Duration.ofMillis(720));

        pace.looked(true);
        assertThat(pace.now()).isEqualTo(Duration.ofMillis(576));
    }

    @Test
    void keeps_within_its_bounds() {
        for (int i = 0; i < 100; i++) pace.looked(false);
        assertThat(pace.now()).isEqualTo(MOST);

        for (int i = 0; i < 100; i++) pace.looked(true);
        assertThat(pace.now()).isEqualTo(LEAST);
    }

    @Test
    void takes_other_bounds_while_it_goes() {
        for (int i = 0; i < 100; i++) pace.looked(false);

        pace.between(LEAST, Duration.ofSeconds(1));
        assertThat(pace.now()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void one_of_a_crowd_may_look_ten_times_more_rarely_but_not_for_minutes() {
        assertThat(pace.rarest()).isEqualTo(MOST);
        assertThat(new Waking.PollPace(Duration.ofSeconds(1), Duration.ofSeconds(1)).rarest())
                .isEqualTo(Duration.ofSeconds(10));
    }
}
