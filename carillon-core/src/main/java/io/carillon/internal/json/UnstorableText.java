package io.carillon.internal.json;

import io.carillon.internal.value.TextCleaner;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Finds the JSON pointer of the first text that cannot be stored. */
final class UnstorableText {
    private UnstorableText() {}

    /** Searches a tree of maps and lists. */
    static Optional<String> find(@Nullable Object node, String pointer) {
        if (node instanceof String text)
            return TextCleaner.isClean(text) ? Optional.empty() : Optional.of(pointer.isEmpty() ? "/" : pointer);
        if (node instanceof List<?> list) {
            for (int i = 0; i < list.size(); i++) {
                Optional<String> found = find(list.get(i), pointer + "/" + i);
                if (found.isPresent()) return found;
            }
        }
        return node instanceof Map<?, ?> object ? findInObject(object, pointer) : Optional.empty();
    }

    private static Optional<String> findInObject(Map<?, ?> object, String pointer) {
        for (Map.Entry<?, ?> field : object.entrySet()) {
            String name = String.valueOf(field.getKey());
            String here =
                    pointer + "/" + TextCleaner.clean(name).replace("~", "~0").replace("/", "~1");
            if (!TextCleaner.isClean(name)) return Optional.of(here);
            Optional<String> found = find(field.getValue(), here);
            if (found.isPresent()) return found;
        }
        return Optional.empty();
    }
}
