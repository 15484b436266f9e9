package io.carillon.cli.screen;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LineTest {
    private static final Look UNICODE = new Look(false, true);

    @Test
    void keeps_to_its_width_and_shows_that_something_is_missing() {
        Line line = new Line(10).add("12345").add("678901");

        assertThat(line.text(Look.BARE)).isEqualTo("123456789~");
        assertThat(line.text(UNICODE)).isEqualTo("123456789…");
    }

    @Test
    void a_line_that_just_fits_is_whole() {
        assertThat(new Line(5).add("12345").add("  ").text(Look.BARE)).isEqualTo("12345");
    }

    @Test
    void cells_stand_under_each_other() {
        assertThat(new Line(40)
                        .cell(Ink.PLAIN, "ab", 4)
                        .right(Ink.PLAIN, "7", 3)
                        .add("x")
                        .text(Look.BARE))
                .isEqualTo("ab      7  x");
        assertThat(new Line(40).cell(Ink.PLAIN, "abcdef", 4).add("x").text(Look.BARE))
                .isEqualTo("abc~  x");
    }

    @Test
    void moves_the_rest_to_the_right_edge() {
        assertThat(new Line(10).add("a").toTheRight(2).add("zz").text(Look.BARE))
                .isEqualTo("a       zz");
    }

    @Test
    void paints_only_where_colours_are_wanted() {
        Line line = new Line(20).add(Ink.RED, "dead").add(" yes");

        assertThat(line.text(new Look(true, false))).isEqualTo("\u001b[31mdead\u001b[0m yes");
        assertThat(line.text(Look.BARE)).isEqualTo("dead yes");
    }

    @Test
    void holds_nothing_that_moves_the_cursor_or_breaks_the_columns() {
        String evil = "a\u001b[2Jb\r\nc\td\u0007\u202e\u0301\u4e2d\ud83d\ude00é✓";

        assertThat(new Line(80).add(evil).text(UNICODE)).isEqualTo("a?[2Jb??c d?????é✓");
    }
}
