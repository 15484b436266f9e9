package io.carillon.internal.value;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.RandomTrials;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TextCleanerTest {
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
        assertThat(TextCleaner.clean(dirty)).isEqualTo(clean);
    }

    @Test
    void agrees_with_the_utf_8_encoder_on_clean_text() {
        RandomTrials.run("clean text is what UTF-8 can encode, without NUL", 20_000, random -> {
            String text = randomText(random, 12);

            boolean carried = StandardCharsets.UTF_8.newEncoder().canEncode(text) && text.indexOf('\0') < 0;

            assertThat(TextCleaner.isClean(text)).isEqualTo(carried);
        });
    }

    @Test
    void cleaning_is_bounded_and_idempotent() {
        RandomTrials.run("cleaning twice changes nothing", 20_000, random -> {
            String text = randomText(random, 40);
            int limit = 1 + random.nextInt(40);

            String clean = TextCleaner.clean(text, limit);

            assertThat(TextCleaner.isClean(clean)).isTrue();
            assertThat(clean.length()).isLessThanOrEqualTo(limit);
            assertThat(TextCleaner.clean(clean, limit)).isSameAs(clean);
            if (TextCleaner.isClean(text) && text.length() <= limit)
                assertThat(clean).isSameAs(text);
            if (text.length() > limit) assertThat(clean).endsWith("…");
        });
    }

    @Test
    void cuts_at_8_ki_characters_without_halving_a_pair() {
        String cut = TextCleaner.clean("a".repeat(8 * 1024 - 2) + "\uD83D\uDE00" + "b".repeat(100));

        assertThat(cut).hasSize(8 * 1024).endsWith("a\uFFFD…");
    }

    /** Returns letters, NUL and surrogates in random order. */
    private static String randomText(Random random, int most) {
        char[] kinds = {'a', '\0', '\uD83D', '\uDE00', 'é', '\uFFFD', '…'};
        int length = random.nextInt(most);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) text.append(kinds[random.nextInt(kinds.length)]);
        return text.toString();
    }
}
