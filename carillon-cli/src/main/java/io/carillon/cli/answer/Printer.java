package io.carillon.cli.answer;

import io.carillon.cli.shell.Shell;
import io.carillon.internal.value.ControlCharacters;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;

/** Prints results to standard output. */
public final class Printer {
    private static final JsonMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    private final Shell shell;
    private final Format format;

    public Printer(Shell shell, Format format) {
        this.shell = shell;
        this.format = format;
    }

    /** Returns whether people read the output and expect a sentence instead of the resulting object. */
    public boolean isTable() {
        return format == Format.TABLE;
    }

    /**
     * Prints a list. An empty list is reported on standard error for people only; a program reads an empty list,
     * or no line.
     *
     * @param name the field that {@link Format#NAME} prints
     * @param columns the fields that are the columns of the table
     */
    public void printList(List<JsonNode> items, String name, List<String> columns) {
        boolean none = items.isEmpty();
        if (none && format == Format.TABLE) shell.err().println("No items found.");
        else if (!none || format != Format.NAME) shell.out().println(listText(items, name, columns));
    }

    /** Returns the text of {@link #printList}, without the last newline. */
    public String listText(List<JsonNode> items, String name, List<String> columns) {
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
            rows.add(columns.stream().map(column -> tableCell(item, column)).toList());
        return Table.text(rows);
    }

    /** Returns a target as the handler or the URL that it calls; its other fields do not fit into a row. */
    private static String tableCell(JsonNode item, String column) {
        JsonNode target = item.path(column);
        if (column.equals("target") && target.has("handler")) return cell(target, "handler");
        if (column.equals("target") && target.has("url")) return cell(target, "method") + " " + cell(target, "url");
        return cell(item, column);
    }

    /**
     * Returns the column title: HANDLER for {@code target.handler}, DUE AT for {@code dueAt}, NEXT RUNS
     * for {@code nextRuns.0}.
     */
    private static String title(String column) {
        String named = column.replaceAll("\\.\\d+$", "");
        return named.substring(named.lastIndexOf('.') + 1)
                .replaceAll("([a-z])([A-Z])", "$1 $2")
                .toUpperCase(Locale.ROOT);
    }

    private static String cell(JsonNode item, String path) {
        return value(fieldAt(item, path));
    }

    private static JsonNode fieldAt(JsonNode item, String path) {
        JsonNode at = item;
        for (String step : path.split("\\.", -1))
            at = step.matches("\\d+") ? at.path(Integer.parseInt(step)) : at.path(step);
        return at;
    }

    /** Returns the name; one name per line if the field is an array. */
    private static String names(JsonNode node) {
        return node.isArray()
                ? String.join("\n", node.valueStream().map(Printer::value).toList())
                : value(node);
    }

    private static String value(JsonNode node) {
        if (node.isMissingNode() || node.isNull()) return "-";
        return ControlCharacters.escape(node.isString() ? node.stringValue() : node.toString());
    }

    /** Prints an item with all its fields. */
    public void printItem(JsonNode item, String name) {
        shell.out().println(itemText(item, name));
    }

    /** Returns the text of {@link #printItem}, without the last newline. */
    public String itemText(JsonNode item, String name) {
        return switch (format) {
            case JSON -> JSON.writeValueAsString(item);
            case YAML -> Yaml.text(item);
            case NAME -> names(fieldAt(item, name));
            case TABLE ->
                Table.text(item.properties().stream()
                        .map(field -> List.of(field.getKey(), value(field.getValue())))
                        .toList());
        };
    }

    /** Prints the result of a change: a sentence for people, the resulting object for programs. */
    public void printResult(String sentence, JsonNode item, String name) {
        if (format == Format.TABLE) shell.out().println(ControlCharacters.escape(sentence));
        else printItem(item, name);
    }

    /** Like {@link #printResult(String, JsonNode, String)}, but for an item that no longer exists. */
    public void printResult(String sentence, Map<String, String> item, String name) {
        var node = JsonNodeFactory.instance.objectNode();
        item.forEach(node::put);
        printResult(sentence, node, name);
    }
}
