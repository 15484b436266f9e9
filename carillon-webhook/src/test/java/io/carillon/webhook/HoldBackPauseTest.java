package io.carillon.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HoldBackPauseTest {
    @ParameterizedTest
    @CsvSource({"-1,1000", "0,1000", "1,2000", "3,8000", "5,32000", "6,60000", "7,60000", "1000000,60000"})
    void doubles_each_time_up_to_a_minute_with_a_random_part(int earlier, long most) {
        for (int i = 0; i < 100; i++)
            assertThat(HoldBackPause.of(null, earlier)).isBetween(Duration.ofMillis(most / 2), Duration.ofMillis(most));
    }

    @ParameterizedTest
    @CsvSource({"0", "5", "9"})
    void a_longer_pause_that_was_asked_for_is_kept(int earlier) {
        Duration asked = Duration.ofMinutes(10);

        assertThat(HoldBackPause.of(asked, earlier)).isEqualTo(asked);
    }
}
