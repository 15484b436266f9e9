package io.carillon.server.redaction;

import io.carillon.server.http.Json;
import io.carillon.server.http.Problem;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/**
 * Hides the values of fields whose name suggests a secret. Readers of runs see payloads without them, and a payload
 * that was read, edited and sent back keeps them.
 */
public final class PayloadRedaction {
    /** Stands in place of a hidden value. */
    public static final String MARK = "[redacted]";

    private static final Pattern SECRET_NAME = Pattern.compile(
            "(?i)passw|passphrase|secret|token|api[-_]?key|private[-_]?key|authoriz|credential|cookie|signature"
                    + "|card[-_]?number|\\b(pin|cvc|cvv)\\b");

    private PayloadRedaction() {}

    /** Returns the text with the secrets hidden if it is JSON; otherwise the text as it is. */
    public static String shownText(String text) {
        return Json.parseStored(text.getBytes(StandardCharsets.UTF_8))
                .filter(JsonNode::isContainer)
                .map(node -> redacted(node).toString())
                .orElse(text);
    }

    /** Returns a copy with the secrets hidden. */
    public static JsonNode redacted(JsonNode node) {
        JsonNode copy = node.deepCopy();
        redact(copy);
        return copy;
    }

    /** Returns a redacted value, or the mark if the name of the value suggests a secret. */
    public static @Nullable Object named(String name, @Nullable Object redacted) {
        return redacted != null && SECRET_NAME.matcher(name).find() ? MARK : redacted;
    }

    private static void redact(JsonNode node) {
        if (node instanceof ArrayNode array) array.forEach(PayloadRedaction::redact);
        if (!(node instanceof ObjectNode object)) return;
        for (Map.Entry<String, JsonNode> field : object.properties()) {
            boolean hidden = SECRET_NAME.matcher(field.getKey()).find()
                    && !field.getValue().isNull();
            if (hidden) field.setValue(StringNode.valueOf(MARK));
            else redact(field.getValue());
        }
    }

    /**
     * Returns the edited payload with the stored values in place of the marks.
     *
     * @param stored the payload that was shown; empty if it is not JSON
     */
    public static JsonNode restored(JsonNode edited, Optional<JsonNode> stored) {
        return restored(edited, stored.orElse(null), "/payload");
    }

    private static JsonNode restored(JsonNode edited, @Nullable JsonNode stored, String pointer) {
        if (edited.isString() && edited.stringValue().equals(MARK)) {
            if (stored == null || stored.isMissingNode())
                throw Problem.invalid(
                        pointer,
                        ("\"%s\" stands for a stored value, but there is none here. In a list with another number of"
                                        + " items, write the values.")
                                .formatted(MARK));
            return stored;
        }
        if (edited instanceof ObjectNode object)
            for (Map.Entry<String, JsonNode> field : object.properties())
                field.setValue(restored(
                        field.getValue(),
                        stored == null ? null : stored.path(field.getKey()),
                        pointer + "/" + field.getKey()));
        if (edited instanceof ArrayNode array) {
            // After items were added or removed, the value at the same position may belong to another item.
            JsonNode items = stored != null && stored.isArray() && stored.size() == array.size() ? stored : null;
            for (int i = 0; i < array.size(); i++)
                array.set(i, restored(array.get(i), items == null ? null : items.path(i), pointer + "/" + i));
        }
        return edited;
    }
}
