package io.carillon.internal.json;

import io.carillon.internal.value.TextCleaner;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** Finds the JSON pointer of the first text that cannot be stored. */
final class UnstorableText {
    private UnstorableText() {}

    static Optional<String> find(JsonNode node, String pointer) {
        if (node.isString())
            return TextCleaner.isClean(node.stringValue())
                    ? Optional.empty()
                    : Optional.of(pointer.isEmpty() ? "/" : pointer);
        if (node.isArray()) {
            for (int i = 0; i < node.size(); i++) {
                Optional<String> found = find(node.get(i), pointer + "/" + i);
                if (found.isPresent()) return found;
            }
        }
        for (Map.Entry<String, JsonNode> field : node.properties()) {
            String here = pointer + "/"
                    + TextCleaner.clean(field.getKey()).replace("~", "~0").replace("/", "~1");
            if (!TextCleaner.isClean(field.getKey())) return Optional.of(here);
            Optional<String> found = find(field.getValue(), here);
            if (found.isPresent()) return found;
        }
        return Optional.empty();
    }
}
