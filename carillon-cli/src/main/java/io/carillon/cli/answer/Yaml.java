package io.carillon.cli.answer;

import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/** Writes JSON as YAML in blocks. A text is quoted as in JSON, which YAML reads alike, unless it is a plain word. */
final class Yaml {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z_][A-Za-z0-9_./-]*");
    /** Words that some reader of YAML takes for something else than text. */
    private static final Set<String> WORDS = Set.of("true", "false", "null", "yes", "no", "on", "off", "y", "n");

    private Yaml() {}

    static String text(JsonNode node) {
        StringBuilder text = new StringBuilder();
        if (node.isContainer() && !node.isEmpty()) block(text, node, 0);
        else text.append(scalar(node)).append('\n');
        return text.substring(0, text.length() - 1);
    }

    private static void block(StringBuilder text, JsonNode node, int depth) {
        if (node.isArray()) for (JsonNode item : node) entry(text, "-", item, depth);
        else
            for (Map.Entry<String, JsonNode> field : node.properties())
                entry(text, word(field.getKey()) + ":", field.getValue(), depth);
    }

    private static void entry(StringBuilder text, String head, JsonNode value, int depth) {
        String indent = "  ".repeat(depth);
        text.append(indent).append(head);
        if (!value.isContainer() || value.isEmpty()) {
            text.append(' ').append(scalar(value)).append('\n');
            return;
        }
        if (!head.equals("-")) {
            text.append('\n');
            block(text, value, depth + 1);
            return;
        }
        // The first line of what an item holds stands right behind its hyphen.
        StringBuilder inner = new StringBuilder();
        block(inner, value, depth + 1);
        text.append(' ').append(inner.substring(indent.length() + 2));
    }

    private static String scalar(JsonNode node) {
        return node.isString() ? word(node.stringValue()) : node.toString();
    }

    private static String word(String text) {
        boolean plain = PLAIN.matcher(text).matches() && !WORDS.contains(text.toLowerCase(Locale.ROOT));
        return plain ? text : StringNode.valueOf(text).toString();
    }
}
