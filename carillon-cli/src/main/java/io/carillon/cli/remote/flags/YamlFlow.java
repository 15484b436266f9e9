package io.carillon.cli.remote.flags;

import io.carillon.cli.shell.UsageException;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/**
 * Reads a list or an object of YAML in brackets, such as {@code {cron: "0 2 * * *", zone: UTC}}. JSON is a part of it.
 */
final class YamlFlow {
    private static final String NOT_PLAIN = "&*!|>%@`#";
    private static final int MAX_DEPTH = 64;

    private final String text;
    private final Function<String, JsonNode> plain;
    private final Function<String, UsageException> wrong;
    private int at;

    private YamlFlow(String text, Function<String, JsonNode> plain, Function<String, UsageException> wrong) {
        this.text = text;
        this.plain = plain;
        this.wrong = wrong;
    }

    /**
     * Reads the text of a line, which may end with a comment.
     *
     * @param plain returns the value of text without quotes
     * @param wrong returns the exception for an error
     */
    static JsonNode parse(String text, Function<String, JsonNode> plain, Function<String, UsageException> wrong) {
        YamlFlow flow = new YamlFlow(text, plain, wrong);
        JsonNode node = flow.value(0);
        String rest = text.substring(flow.at).strip();
        if (!rest.isEmpty() && !rest.startsWith("#"))
            throw wrong.apply("Nothing but a comment may follow the closing bracket");
        return node;
    }

    private JsonNode value(int depth) {
        if (depth > MAX_DEPTH) throw wrong.apply("The brackets are nested too deeply");
        skipBlanks();
        return switch (peek()) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"', '\'' -> StringNode.valueOf(quoted());
            default -> plain.apply(word());
        };
    }

    private ObjectNode object(int depth) {
        ObjectNode object = JsonNodeFactory.instance.objectNode();
        at++;
        while (!closes('}')) {
            String name = peek() == '"' || peek() == '\'' ? quoted() : word();
            skipBlanks();
            if (peek() != ':') throw wrong.apply("A colon and a value must follow '%s'".formatted(name));
            at++;
            if (object.has(name)) throw wrong.apply("The field '%s' is given twice".formatted(name));
            object.set(name, value(depth + 1));
            separator('}');
        }
        return object;
    }

    private ArrayNode array(int depth) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        at++;
        while (!closes(']')) {
            array.add(value(depth + 1));
            separator(']');
        }
        return array;
    }

    private boolean closes(char bracket) {
        skipBlanks();
        if (peek() != bracket) return false;
        at++;
        return true;
    }

    private void separator(char bracket) {
        skipBlanks();
        if (peek() == ',') at++;
        else if (peek() != bracket) throw wrong.apply("A comma or '%c' was expected".formatted(bracket));
    }

    /** Returns the quoted text; in single quotes, a quote is doubled. */
    private String quoted() {
        char quote = text.charAt(at);
        int end = at + 1;
        while (end < text.length() && (text.charAt(end) != quote || isDoubled(quote, end)))
            end += (quote == '"' && text.charAt(end) == '\\') || text.charAt(end) == quote ? 2 : 1;
        if (end >= text.length()) throw wrong.apply("The quotes do not fit together");
        String content = text.substring(at, end + 1);
        at = end + 1;
        return quote == '"'
                ? JsonInput.parse("The text", content).asString()
                : content.substring(1, content.length() - 1).replace("''", "'");
    }

    private boolean isDoubled(char quote, int position) {
        return quote == '\'' && position + 1 < text.length() && text.charAt(position + 1) == quote;
    }

    /** Returns text without quotes, up to a comma, a bracket, or a colon before a blank. */
    private String word() {
        int start = at;
        while (at < text.length() && ",[]{}".indexOf(text.charAt(at)) < 0 && !isColon()) at++;
        String word = text.substring(start, at).strip();
        if (word.isEmpty()) throw wrong.apply("A value was expected; lists and objects in brackets end on their line");
        if (NOT_PLAIN.indexOf(word.charAt(0)) >= 0)
            throw wrong.apply("Put text that begins with '%c' in quotes".formatted(word.charAt(0)));
        return word;
    }

    private boolean isColon() {
        return text.charAt(at) == ':' && (at + 1 == text.length() || " ,[]{}\"'".indexOf(text.charAt(at + 1)) >= 0);
    }

    private void skipBlanks() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) at++;
    }

    /** Returns the next character; NUL at the end of the line. */
    private char peek() {
        return at < text.length() ? text.charAt(at) : 0;
    }
}
