package io.carillon.value;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Trials;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TextTest {
    @ParameterizedTest
    @CsvSource({
        "plain, plain",
        "'a\0b', a\uFFFDb",
        "'\uD800', \uFFFD",
        "'\uDC00', \uFFFD",
        "'\uDC00\uD800', \uFFFD\uFFFD",
        "'x\uD83D\uDE00y', 'x\uD83D\uDE00y'",
        "'\uD83D\uD83D\uDE00', '\uFFFD\uD83D\uDE00'",
        "'\uD83D\uDE00\uDE00', '\uD83D\uDE00\uFFFD'",
    })
    void replaces_what_cannot_be_stored_and_nothing_else(String dirty, String clean) {
        assertThat(Text.clean(dirty)).isEqualTo(clean);
    }

    @Test
    void knows_clean_text_as_utf_8_knows_it() {
        Trials.of("clean is what UTF-8 can carry, but NUL", 20_000, random -> {
            String text = wild(random, 12);

            boolean carried = StandardCharsets.UTF_8.newEncoder().canEncode(text) && text.indexOf('\0') < 0;

            assertThat(Text.isClean(text)).isEqualTo(carried);
        });
    }

    @Test
    void cleans_to_text_that_is_clean_bounded_and_stays_as_it_is() {
        Trials.of("cleaning is final", 20_000, random -> {
            String text = wild(random, 40);
            int limit = 1 + random.nextInt(40);

            String clean = Text.clean(text, limit);

            assertThat(Text.isClean(clean)).isTrue();
            assertThat(clean.length()).isLessThanOrEqualTo(limit);
            assertThat(Text.clean(clean, limit)).isSameAs(clean);
            if (Text.isClean(text) && text.length() <= limit) assertThat(clean).isSameAs(text);
            if (text.length() > limit) assertThat(clean).endsWith("…");
        });
    }

    @Test
    void cuts_at_8_ki_characters_without_halving_a_pair() {
        String cut = Text.clean("a".repeat(8 * 1024 - 2) + "\uD83D\uDE00" + "b".repeat(100));

        assertThat(cut).hasSize(8 * 1024).endsWith("a\uFFFD…");
    }

    /** Letters, NUL and surrogates in any order. */
    private static String wild(Random random, int most) {
        char[] kinds = {'a', '\0', '\uD83D', '\uDE00', 'é', '\uFFFD', '…'};
        int length = random.nextInt(most);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) text.append(kinds[random.nextInt(kinds.length)]);
        return text.toString();
    }
}
