package io.carillon.cli.answer;

import io.carillon.cli.shell.Shell;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;

/** Writes answers to standard output. */
public final class Printer {
    private static final JsonMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    private final Shell shell;
    private final Format format;

    public Printer(Shell shell, Format format) {
        this.shell = shell;
        this.format = format;
    }

    /** Whether people read it, who want a sentence rather than what became of it. */
    public boolean isTable() {
        return format == Format.TABLE;
    }

    /** Many things: the columns of the table are fields, and one of them is the name. That there are none is told to people only; a program reads an empty list, or no line. */
    public void list(List<JsonNode> items, String name, List<String> columns) {
        boolean none = items.isEmpty();
        if (none && format == Format.TABLE) shell.err().println("There are none.");
        else if (!none || format != Format.NAME) shell.out().println(listed(items, name, columns));
    }

    /** The same as text, without the last newline. */
    public String listed(List<JsonNode> items, String name, List<String> columns) {
        return switch (format) {
            case JSON ->
                JSON.writeValueAsString(JsonNodeFactory.instance.arrayNode().addAll(items));
            case YAML -> Yaml.text(JsonNodeFactory.instance.arrayNode().addAll(items));
            case NAME ->
                String.join("\n", items.stream().map(item -> cell(item, name)).toList());
            case TABLE -> table(items, columns);
        };
    }

    private static String table(List<JsonNode> items, List<String> columns) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(columns.stream().map(Printer::title).toList());
        for (JsonNode item : items)
            rows.add(columns.stream().map(column -> inTable(item, column)).toList());
        return Table.text(rows);
    }

    /** A target by what it calls; the rest of it has no place in a row. */
    private static String inTable(JsonNode item, String column) {
        JsonNode target = item.path(column);
        if (column.equals("target") && target.has("handler")) return cell(target, "handler");
        if (column.equals("target") && target.has("url")) return cell(target, "method") + " " + cell(target, "url");
        return cell(item, column);
    }

    /** {@code target.handler} stands under HANDLER, {@code dueAt} under DUE AT, {@code nextRuns.0} under NEXT RUNS. */
    private static String title(String column) {
        String named = column.replaceAll("\\.\\d+$", "");
        return named.substring(named.lastIndexOf('.') + 1)
                .replaceAll("([a-z])([A-Z])", "$1 $2")
                .toUpperCase(Locale.ROOT);
    }

    private static String cell(JsonNode item, String path) {
        return value(at(item, path));
    }

    private static JsonNode at(JsonNode item, String path) {
        JsonNode at = item;
        for (String step : path.split("\\.", -1))
            at = step.matches("\\d+") ? at.path(Integer.parseInt(step)) : at.path(step);
        return at;
    }

    /** Where a thing goes by several names, one a line. */
    private static String names(JsonNode node) {
        return node.isArray()
                ? String.join("\n", node.valueStream().map(Printer::value).toList())
                : value(node);
    }

    private static String value(JsonNode node) {
        if (node.isMissingNode() || node.isNull()) return "-";
        return Table.clean(node.isString() ? node.stringValue() : node.toString());
    }

    /** One thing, with all that is known of it. */
    public void one(JsonNode item, String name) {
        shell.out().println(shown(item, name));
    }

    /** The same as text, without the last newline. */
    public String shown(JsonNode item, String name) {
        return switch (format) {
            case JSON -> JSON.writeValueAsString(item);
            case YAML -> Yaml.text(item);
            case NAME -> names(at(item, name));
            case TABLE ->
                Table.text(item.properties().stream()
                        .map(field -> List.of(field.getKey(), value(field.getValue())))
                        .toList());
        };
    }

    /** Something was done: a sentence for people, what became of it for programs. */
    public void done(String sentence, JsonNode item, String name) {
        if (format == Format.TABLE) shell.out().println(Table.clean(sentence));
        else one(item, name);
    }

    /** The same where there is nothing left to show. */
    public void done(String sentence, Map<String, String> item, String name) {
        var node = JsonNodeFactory.instance.objectNode();
        item.forEach(node::put);
        done(sentence, node, name);
    }
}
