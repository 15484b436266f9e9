package io.carillon.cli.remote.flags;

import io.carillon.cli.shell.UsageException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/**
 * Reads YAML as {@code -o yaml} prints it and as people edit it: block style with comments, plain and quoted text, and
 * lists and objects in brackets on one line. Anchors, tags, text of several lines and several documents are rejected
 * with their line number.
 */
final class YamlInput {
    private static final Pattern ENTRY =
            Pattern.compile("(\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^']|'')*'|[^\\s\"'#\\[{&*!|>%@`-][^:#]*?|-[^\\s:#][^:#]*?)"
                    + "\\s*:(?:\\s+(.*))?");
    private static final Pattern QUOTED = Pattern.compile("(\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^']|'')*')\\s*(#.*)?");
    private static final Pattern NUMBER = Pattern.compile("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?");
    private static final String NOT_PLAIN = "&*!|>%@`";

    private record Line(int number, int indent, String text) {}

    private final String what;
    private final List<Line> lines = new ArrayList<>();
    private int at;

    private YamlInput(String what, String text) {
        this.what = what;
        int number = 0;
        for (String line : text.split("\\R", -1)) {
            number++;
            String content = line.strip();
            if (content.isEmpty() || content.startsWith("#") || (content.equals("---") && lines.isEmpty())) continue;
            String indent = line.substring(0, line.indexOf(content.charAt(0)));
            if (indent.contains("\t")) throw wrong(number, "Indent with spaces, not with tabs");
            lines.add(new Line(number, indent.length(), content));
        }
    }

    static JsonNode parse(String what, String text) {
        YamlInput input = new YamlInput(what, text);
        if (input.lines.isEmpty()) return NullNode.getInstance();
        JsonNode node = input.block(input.lines.get(0).indent);
        if (input.at < input.lines.size())
            throw input.wrong(input.current().number, "The indentation fits no line above");
        return node;
    }

    private Line current() {
        return lines.get(at);
    }

    private boolean isAt(int indent) {
        return at < lines.size() && current().indent == indent;
    }

    private static boolean isItem(String text) {
        return text.equals("-") || text.startsWith("- ");
    }

    private JsonNode block(int indent) {
        if (isItem(current().text)) return items(indent);
        return ENTRY.matcher(current().text).matches() ? fields(indent) : scalar(lines.get(at++));
    }

    private ArrayNode items(int indent) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        while (isAt(indent) && isItem(current().text)) {
            Line line = current();
            String rest = line.text.substring(1).strip();
            if (rest.isEmpty() || rest.startsWith("#")) {
                at++;
                array.add(nested(indent));
                continue;
            }
            // What follows the hyphen is the first line of a block of its own.
            int inner = indent + line.text.indexOf(rest, 1);
            lines.set(at, new Line(line.number, inner, rest));
            array.add(block(inner));
        }
        return array;
    }

    private ObjectNode fields(int indent) {
        ObjectNode object = JsonNodeFactory.instance.objectNode();
        while (isAt(indent) && !isItem(current().text)) {
            Line line = lines.get(at++);
            Matcher entry = ENTRY.matcher(line.text);
            if (!entry.matches()) throw wrong(line.number, "A line 'name: value' was expected");
            String name = text(line, entry.group(1)).asString();
            if (object.has(name)) throw wrong(line.number, "The field '%s' is given twice".formatted(name));
            String value = entry.group(2) == null ? "" : entry.group(2).strip();
            if (value.isEmpty() || value.startsWith("#")) {
                boolean listBelow = isAt(indent) && isItem(current().text);
                object.set(name, listBelow ? items(indent) : nested(indent));
            } else object.set(name, scalar(new Line(line.number, indent, value)));
        }
        return object;
    }

    /** Returns the block that is indented deeper; null if there is none. */
    private JsonNode nested(int indent) {
        return at < lines.size() && current().indent > indent ? block(current().indent) : NullNode.getInstance();
    }

    private JsonNode scalar(Line line) {
        String value = line.text;
        char first = value.charAt(0);
        if (first == '[' || first == '{')
            return YamlFlow.parse(value, plain -> plain(plain), why -> wrong(line.number, why));
        if (first == '"' || first == '\'') {
            Matcher quoted = QUOTED.matcher(value);
            if (!quoted.matches()) throw wrong(line.number, "The quotes do not fit together");
            return text(line, quoted.group(1));
        }
        if (NOT_PLAIN.indexOf(first) >= 0)
            throw wrong(line.number, "Put text that begins with '%c' in quotes".formatted(first));
        int comment = value.indexOf(" #");
        String plain = comment < 0 ? value : value.substring(0, comment).strip();
        if (plain.contains(": ")) throw wrong(line.number, "Put text that contains a colon in quotes");
        return plain(plain);
    }

    private JsonNode plain(String plain) {
        return switch (plain) {
            case "null", "~" -> NullNode.getInstance();
            case "true", "false" -> JsonNodeFactory.instance.booleanNode(plain.equals("true"));
            default -> NUMBER.matcher(plain).matches() ? JsonInput.parse(what, plain) : StringNode.valueOf(plain);
        };
    }

    private JsonNode text(Line line, String text) {
        if (text.startsWith("\"")) return JsonInput.parse(place(line.number), text);
        return StringNode.valueOf(
                text.startsWith("'") ? text.substring(1, text.length() - 1).replace("''", "'") : text.strip());
    }

    private String place(int number) {
        return "%s, line %d,".formatted(what, number);
    }

    private UsageException wrong(int number, String why) {
        return new UsageException("%s, line %d: %s.".formatted(what, number, why));
    }
}
