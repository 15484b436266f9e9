package io.carillon.cli.screen;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LineTest {
    private static final RenderOptions UNICODE = new RenderOptions(false, true);

    @Test
    void cuts_text_at_its_width_and_marks_the_cut() {
        Line line = new Line(10).add("12345").add("678901");

        assertThat(line.text(RenderOptions.PLAIN_ASCII)).isEqualTo("123456789~");
        assertThat(line.text(UNICODE)).isEqualTo("123456789…");
    }

    @Test
    void a_line_that_fits_exactly_is_not_cut() {
        assertThat(new Line(5).add("12345").add("  ").text(RenderOptions.PLAIN_ASCII))
                .isEqualTo("12345");
    }

    @Test
    void cells_are_aligned() {
        assertThat(new Line(40)
                        .cell(TerminalStyle.PLAIN, "ab", 4)
                        .rightAlignedCell(TerminalStyle.PLAIN, "7", 3)
                        .add("x")
                        .text(RenderOptions.PLAIN_ASCII))
                .isEqualTo("ab      7  x");
        assertThat(new Line(40).cell(TerminalStyle.PLAIN, "abcdef", 4).add("x").text(RenderOptions.PLAIN_ASCII))
                .isEqualTo("abc~  x");
    }

    @Test
    void aligns_text_at_the_right_edge() {
        assertThat(new Line(10).add("a").padToRightEdge(2).add("zz").text(RenderOptions.PLAIN_ASCII))
                .isEqualTo("a       zz");
    }

    @Test
    void uses_colours_only_where_they_are_enabled() {
        Line line = new Line(20).add(TerminalStyle.RED, "dead").add(" yes");

        assertThat(line.text(new RenderOptions(true, false))).isEqualTo("\u001b[31mdead\u001b[0m yes");
        assertThat(line.text(RenderOptions.PLAIN_ASCII)).isEqualTo("dead yes");
    }

    @Test
    void contains_nothing_that_moves_the_cursor_or_breaks_the_columns() {
        String evil = "a\u001b[2Jb\r\nc\td\u0007\u202e\u0301\u4e2d\ud83d\ude00é✓";

        assertThat(new Line(80).add(evil).text(UNICODE)).isEqualTo("a?[2Jb  c d?????é✓");
    }
}
