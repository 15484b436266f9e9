package io.carillon.cli.remote;

import io.carillon.cli.shell.UsageException;
import io.carillon.value.Nearest;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Words of which one must be chosen, judged before anything is sent. */
final class Words {
    private Words() {}

    /** One of the words of an enum as they stand on the wire, if there is one. */
    static @Nullable String one(String flag, @Nullable String text, Class<? extends Enum<?>> type) {
        return text == null ? null : one(flag, text, of(type));
    }

    /** One of these. */
    static String one(String flag, String text, List<String> words) {
        if (words.contains(text)) return text;
        throw new UsageException("%s is '%s', and must be one of %s.%s"
                .formatted(flag, text, String.join(", ", words), Nearest.hint(text, words)));
    }

    static List<String> of(Class<? extends Enum<?>> type) {
        return Arrays.stream(type.getEnumConstants())
                .map(word -> word.name().toLowerCase(Locale.ROOT).replace('_', '-'))
                .toList();
    }
}
