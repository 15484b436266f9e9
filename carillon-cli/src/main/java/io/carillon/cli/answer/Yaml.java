package io.carillon.cli.answer;

import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/** Writes JSON as YAML in block style. Text other than plain words is quoted as in JSON, which is valid YAML. */
final class Yaml {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z_][A-Za-z0-9_./-]*");
    /** Words that some YAML parsers do not read as text. */
    private static final Set<String> RESERVED_WORDS =
            Set.of("true", "false", "null", "yes", "no", "on", "off", "y", "n");

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
                entry(text, quoteIfNeeded(field.getKey()) + ":", field.getValue(), depth);
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
        // The first line of an item follows its hyphen on the same line.
        StringBuilder inner = new StringBuilder();
        block(inner, value, depth + 1);
        text.append(' ').append(inner.substring(indent.length() + 2));
    }

    private static String scalar(JsonNode node) {
        return node.isString() ? quoteIfNeeded(node.stringValue()) : node.toString();
    }

    private static String quoteIfNeeded(String text) {
        boolean plain = PLAIN.matcher(text).matches() && !RESERVED_WORDS.contains(text.toLowerCase(Locale.ROOT));
        return plain ? text : StringNode.valueOf(text).toString();
    }
}
