package io.carillon.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DurationTextTest {
    @ParameterizedTest
    @CsvSource({
        "-5, 0 ms",
        "0, 0 ms",
        "12, 12 ms",
        "999, 999 ms",
        "1000, 1 s",
        "1049, 1 s",
        "1050, 1.1 s",
        "59949, 59.9 s",
        "59950, 1 min",
        "125000, 2 min 5 s",
        "3600000, 1 h",
        "86399000, 23 h 59 min",
        "90000000, 1 d 1 h",
    })
    void durations_are_readable(long millis, String text) {
        assertThat(DurationText.text(Duration.ofMillis(millis))).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({"-1, 0 s", "0, 0 s", "1, 1 s", "1000, 1 s", "1001, 2 s", "59001, 1 min", "61000, 1 min 1 s"})
    void a_countdown_is_rounded_up_to_seconds(long millis, String text) {
        assertThat(DurationText.countdown(Duration.ofMillis(millis))).isEqualTo(text);
    }
}
