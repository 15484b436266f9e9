package io.carillon.cli.screen;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScreenTest {
    @Test
    void a_frame_is_drawn_in_place_and_never_scrolls() {
        String frame = Screen.frame(List.of(new Line(5).add("one"), new Line(5).add("two")), Look.BARE);

        assertThat(frame)
                .isEqualTo("\u001b[Hone\u001b[K\u001b[2;1Htwo\u001b[K\u001b[J")
                .doesNotContain("\n", "\r");
    }

    @ParameterizedTest
    @CsvSource({"24 80, 80, 24", "50 160, 160, 50", "0 0, 80, 24", "'', 80, 24", "stty: no, 80, 24"})
    void the_size_is_read_from_stty_or_is_the_usual_one(String said, int columns, int rows) {
        assertThat(Size.parse(said + "\n")).isEqualTo(new Size(columns, rows));
    }

    @Test
    void no_color_takes_the_colours_away_whatever_its_value() {
        assertThat(Look.of(Map.of("NO_COLOR", "0")).colours()).isFalse();
        assertThat(Look.of(Map.of("NO_COLOR", "")).colours()).isTrue();
        assertThat(Look.of(Map.of()).colours()).isTrue();
    }

    @Test
    void unicode_depends_on_the_first_variable_that_speaks_of_the_locale() {
        assertThat(Look.of(Map.of("LANG", "de_DE.UTF-8")).unicode()).isTrue();
        assertThat(Look.of(Map.of("LANG", "C.utf8")).unicode()).isTrue();
        assertThat(Look.of(Map.of("LC_ALL", "C", "LANG", "de_DE.UTF-8")).unicode())
                .isFalse();
        assertThat(Look.of(Map.of()).unicode()).isFalse();
    }

    @Test
    void a_bar_is_filled_in_proportion_and_never_over_its_ends() {
        assertThat(Look.BARE.bar(4, 0.5)).isEqualTo("##..");
        assertThat(Look.BARE.bar(4, -1)).isEqualTo("....");
        assertThat(Look.BARE.bar(4, 7)).isEqualTo("####");
    }

    @Test
    void without_a_terminal_there_is_none() {
        assertThat(Terminal.here(Map.of("TERM", "dumb"))).isEmpty();
        assertThat(Terminal.here(Map.of())).isEmpty();
    }
}
