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
        String frame = Screen.frame(List.of(new Line(5).add("one"), new Line(5).add("two")), RenderOptions.PLAIN_ASCII);

        assertThat(frame)
                .isEqualTo("\u001b[Hone\u001b[K\u001b[2;1Htwo\u001b[K\u001b[J")
                .doesNotContain("\n", "\r");
    }

    @ParameterizedTest
    @CsvSource({"24 80, 80, 24", "50 160, 160, 50", "0 0, 80, 24", "'', 80, 24", "stty: no, 80, 24"})
    void the_size_is_read_from_stty_or_is_the_default(String said, int columns, int rows) {
        assertThat(Size.parse(said + "\n")).isEqualTo(new Size(columns, rows));
    }

    @Test
    void any_value_of_no_color_disables_colors() {
        assertThat(RenderOptions.of(Map.of("NO_COLOR", "0")).colours()).isFalse();
        assertThat(RenderOptions.of(Map.of("NO_COLOR", "")).colours()).isTrue();
        assertThat(RenderOptions.of(Map.of()).colours()).isTrue();
    }

    @Test
    void unicode_depends_on_the_first_variable_that_sets_the_locale() {
        assertThat(RenderOptions.of(Map.of("LANG", "de_DE.UTF-8")).unicode()).isTrue();
        assertThat(RenderOptions.of(Map.of("LANG", "C.utf8")).unicode()).isTrue();
        assertThat(RenderOptions.of(Map.of("LC_ALL", "C", "LANG", "de_DE.UTF-8"))
                        .unicode())
                .isFalse();
        assertThat(RenderOptions.of(Map.of()).unicode()).isFalse();
    }

    @Test
    void a_bar_is_filled_in_proportion_and_never_exceeds_its_width() {
        assertThat(RenderOptions.PLAIN_ASCII.bar(4, 0.5)).isEqualTo("##..");
        assertThat(RenderOptions.PLAIN_ASCII.bar(4, -1)).isEqualTo("....");
        assertThat(RenderOptions.PLAIN_ASCII.bar(4, 7)).isEqualTo("####");
    }

    @Test
    void without_a_terminal_none_is_returned() {
        assertThat(Terminal.current(Map.of("TERM", "dumb"))).isEmpty();
        assertThat(Terminal.current(Map.of())).isEmpty();
    }
}
