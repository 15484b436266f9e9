package io.carillon.internal.value;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ControlCharactersTest {
    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            value = {
                "000a, \\n",
                "000d, \\r",
                "0009, \\t",
                "0000, \\u0000",
                "001b, \\u001b",
                "007f, \\u007f",
                "0085, \\u0085",
                "009b, \\u009b",
                "2028, \\u2028",
                "2029, \\u2029",
                "202e, \\u202e",
                "2066, \\u2066",
                "200b, \\u200b",
                "feff, \\ufeff",
                "e0001, \\udb40\\udc01",
            })
    void a_character_that_changes_how_a_line_is_shown_is_escaped(String point, String escaped) {
        String text = "a" + Character.toString(Integer.parseInt(point, 16)) + "b";

        assertThat(ControlCharacters.escape(text)).isEqualTo("a" + escaped + "b");
    }

    @Test
    void other_text_is_returned_as_it_is() {
        String text = "a \\n \"b\" Zürich 東京 😀 ✓";

        assertThat(ControlCharacters.escape(text)).isSameAs(text);
        assertThat(ControlCharacters.escape(null)).isEqualTo("null");
    }

    @Test
    void line_ends_may_be_kept_but_no_carriage_return_that_overwrites_a_line() {
        assertThat(ControlCharacters.escapeLines("a\nb\r\nc\rd\te\u001b[2J")).isEqualTo("a\nb\r\nc\\rd\te\\u001b[2J");
    }
}
