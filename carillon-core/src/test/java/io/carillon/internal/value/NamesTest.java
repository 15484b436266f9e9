package io.carillon.internal.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NamesTest {
    @ParameterizedTest
    @ValueSource(strings = {"a", "0", "reminder.send", "a-b_c.d", "...", "-"})
    void accepts_valid_names(String name) {
        assertThat(Names.check("queue", name)).isEqualTo(name);
    }

    @Test
    void takes_a_hundred_characters_and_no_more() {
        assertThat(Names.check("queue", "a".repeat(100))).hasSize(100);
        assertThat(refusal("a".repeat(101))).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "A",
                "a b",
                "a/b",
                "a%b",
                "a'b",
                "a\"b",
                "é",
                "ı",
                "\u0430",
                "a\n",
                "a\0",
                "a\u202Eb",
                "\uD800",
                "a@1",
                "a,b",
                "{a}",
                "%s"
            })
    void rejects_invalid_names_and_says_what_is_allowed(String name) {
        CarillonException refusal = refusal(name);

        assertThat(refusal).as("'%s' is accepted as a name", name).isNotNull();
        assertThat(refusal.code()).isEqualTo(ErrorCode.INVALID_NAME);
        assertThat(refusal).hasMessageContaining("queue").hasMessageContaining("a-z, 0-9");
        assertThat(TextCleaner.isClean(refusal.getMessage())).isTrue();
    }

    @Test
    void shows_only_the_start_of_an_absurdly_long_name() {
        assertThat(refusal("A".repeat(1_000_000)).getMessage()).hasSizeLessThan(300);
    }

    @ParameterizedTest
    @ValueSource(strings = {"order:42", " ", "Größe/€", "\uD83D\uDE00", "%_'\"\\", "\n"})
    void takes_any_text_for_a_key(String key) {
        assertThat(Names.checkKey("unique key", key)).isEqualTo(key);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a\0b", "\uD800", "\uDC00x"})
    void refuses_keys_that_cannot_be_stored(String key) {
        CarillonException refusal =
                catchThrowableOfType(CarillonException.class, () -> Names.checkKey("unique key", key));

        assertThat(refusal).isNotNull();
        assertThat(refusal.code()).isEqualTo(ErrorCode.INVALID_NAME);
        assertThat(refusal).hasMessageContaining("unique key");
    }

    @Test
    void takes_keys_of_up_to_200_characters() {
        assertThat(Names.checkKey("key", "k".repeat(200))).hasSize(200);
        assertThat(catchThrowableOfType(CarillonException.class, () -> Names.checkKey("key", "k".repeat(201))))
                .hasMessageContaining("hash");
    }

    private static CarillonException refusal(String name) {
        return catchThrowableOfType(CarillonException.class, () -> Names.check("queue", name));
    }
}
