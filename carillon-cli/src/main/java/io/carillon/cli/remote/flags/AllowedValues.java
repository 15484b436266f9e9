package io.carillon.cli.remote.flags;

import io.carillon.cli.shell.UsageException;
import io.carillon.internal.value.SpellingSuggester;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Checks options that allow only certain words, before a request is sent. */
public final class AllowedValues {
    private AllowedValues() {}

    /** Returns the text if it is the REST name of an enum constant; null if it is null. Throws otherwise. */
    static @Nullable String require(String flag, @Nullable String text, Class<? extends Enum<?>> type) {
        return text == null ? null : require(flag, text, valuesOf(type));
    }

    /** Returns the text if it is one of the words. Throws with the closest word otherwise. */
    public static String require(String flag, String text, List<String> words) {
        if (words.contains(text)) return text;
        throw new UsageException("%s must be one of %s (was '%s').%s"
                .formatted(flag, String.join(", ", words), text, SpellingSuggester.didYouMean(text, words)));
    }

    static List<String> valuesOf(Class<? extends Enum<?>> type) {
        return Arrays.stream(type.getEnumConstants())
                .map(word -> word.name().toLowerCase(Locale.ROOT).replace('_', '-'))
                .toList();
    }
}
