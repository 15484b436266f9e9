package io.carillon.internal.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventHeadersTest {
    private static Map<String, String> many(int count, int length) {
        return IntStream.range(0, count)
                .boxed()
                .collect(Collectors.toMap(number -> "h" + number, number -> "v".repeat(length)));
    }

    @Test
    void the_stored_form_keeps_names_and_values() {
        Map<String, String> headers = EventHeaders.check(
                Map.of("tenant", "acme", "quoted", "a \"b\" \\ c\\\\", "like-json", "\",\"x\":\"{}", "x_1.2", "="));

        assertThat(EventHeaders.parse(EventHeaders.toJson(headers))).isEqualTo(headers);
        assertThat(EventHeaders.toJson(Map.of())).isNull();
        assertThat(EventHeaders.parse(null)).isEmpty();
        assertThat(EventHeaders.parse("{\"a\": \"b\", \"c\": \"d\"}")).isEqualTo(Map.of("a", "b", "c", "d"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "A", "a b", "a:b", "content-type", "ce-id", "ce_source", "é"})
    void names_that_other_systems_would_not_keep_are_refused(String name) {
        assertThatThrownBy(() -> EventHeaders.check(Map.of(name, "v")))
                .isInstanceOf(CarillonException.class)
                .hasMessageContaining("event header");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " a", "a ", "a\nb", "a\rb", "a\tb", "a\u0000", "a\u007f", "Käse", "\u202eabc"})
    void values_that_are_not_printable_ascii_are_refused_and_not_shown(String value) {
        assertThatThrownBy(() -> EventHeaders.check(Map.of("tenant", value)))
                .isInstanceOf(CarillonException.class)
                .hasMessage("The value of the event header 'tenant' must have 1 to 1000 printable ASCII characters,"
                        + " without spaces at its ends. Put other text into the data.");
    }

    @Test
    void number_and_size_have_limits() {
        assertThat(EventHeaders.check(many(16, 100))).hasSize(16);
        assertThatThrownBy(() -> EventHeaders.check(many(17, 1))).hasMessageContaining("at most 16 headers (was 17)");
        assertThat(EventHeaders.check(many(4, 1_000))).hasSize(4);
        assertThatThrownBy(() -> EventHeaders.check(many(1, 1_001))).hasMessageContaining("1 to 1000");
        assertThatThrownBy(() -> EventHeaders.check(many(5, 1_000)))
                .hasMessageContaining("at most 4096 characters, names and values together (was 5010)");
    }
}
