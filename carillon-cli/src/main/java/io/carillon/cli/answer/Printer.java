package io.carillon.cli.answer;

import io.carillon.cli.screen.RenderOptions;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.TerminalWidth;
import io.carillon.internal.value.ControlCharacters;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Prints results to standard output. */
public final class Printer {
    private static final JsonMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    /** Columns besides the name from which people copy, so that they are never cut. */
    private static final Set<String> COPIED = Set.of("run");

    private static final String NOTHING = "-";

    private final Shell shell;
    private final Layout layout;
    private final UnaryOperator<JsonNode> row;
    private final boolean wrapsLast;

    /** Creates a printer that shows times as they are. */
    public Printer(Shell shell, Format format) {
        this(shell, new Layout(format, false, true));
    }

    public Printer(Shell shell, Layout layout) {
        this(shell, layout, UnaryOperator.identity(), false);
    }

    private Printer(Shell shell, Layout layout, UnaryOperator<JsonNode> row, boolean wrapsLast) {
        this.shell = shell;
        this.layout = layout;
        this.row = row;
        this.wrapsLast = wrapsLast;
    }

    /** Returns a printer whose tables show this object instead of an item. */
    public Printer rows(UnaryOperator<JsonNode> newRow) {
        return new Printer(shell, layout, newRow, wrapsLast);
    }

    /** Returns a printer that shows instants as they are, for lists of instants. */
    public Printer absolute() {
        return new Printer(shell, new Layout(layout.format(), layout.wide(), true), row, wrapsLast);
    }

    /** Returns a printer that wraps the last column instead of cutting it, for text that must be read to its end. */
    public Printer wrapping() {
        return new Printer(shell, layout, row, true);
    }

    /** Returns whether the user asked for tables that are as wide as their content. */
    public boolean isWide() {
        return layout.wide();
    }

    /**
     * Returns a duration or an instant in words, such as {@code in 5 s}; an instant as it is if the user asked for
     * that.
     */
    public String timeText(String text) {
        Optional<Instant> instant = TimeText.instant(text);
        if (instant.isEmpty()) return TimeText.duration(text).orElse(text);
        return layout.absolute()
                ? text
                : TimeText.relative(instant.get(), shell.clock().instant());
    }

    /** Returns whether people read the output and expect a sentence instead of the resulting object. */
    public boolean isTable() {
        return layout.format() == Format.TABLE;
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
        if (none && isTable()) shell.err().println("No items found.");
        else if (!none || layout.format() != Format.NAME) shell.out().println(listText(items, name, columns));
    }

    /** Returns the text of {@link #printList}, without the last newline. */
    public String listText(List<JsonNode> items, String name, List<String> columns) {
        return switch (layout.format()) {
            case JSON ->
                JSON.writeValueAsString(JsonNodeFactory.instance.arrayNode().addAll(items));
            case YAML -> Yaml.text(JsonNodeFactory.instance.arrayNode().addAll(items));
            case NAME ->
                String.join("\n", items.stream().map(item -> cell(item, name)).toList());
            case TABLE -> table(items, name, columns);
        };
    }

    private String table(List<JsonNode> items, String name, List<String> columns) {
        List<JsonNode> shown = items.stream().map(row).toList();
        List<String> filled = columns.stream()
                .filter(column -> layout.wide() || column.equals(name) || hasValue(shown, column))
                .toList();
        List<List<String>> rows = new ArrayList<>();
        rows.add(filled.stream().map(Printer::title).toList());
        for (JsonNode item : shown)
            rows.add(filled.stream().map(column -> tableCell(item, column)).toList());
        int width = layout.wide() ? Integer.MAX_VALUE : TerminalWidth.of(shell).orElse(Integer.MAX_VALUE);
        Set<Integer> kept = IntStream.range(0, filled.size())
                .filter(i -> filled.get(i).equals(name) || COPIED.contains(filled.get(i)))
                .boxed()
                .collect(Collectors.toSet());
        String ellipsis = RenderOptions.of(shell.environment()).symbol("…", "~");
        return Table.text(rows, new Table.Fit(width, kept, wrapsLast, ellipsis));
    }

    /** A column without a value in any row only takes the space of others. */
    private boolean hasValue(List<JsonNode> items, String column) {
        return items.isEmpty()
                || items.stream().anyMatch(item -> !tableCell(item, column).equals(NOTHING));
    }

    /** Returns a field in one line: a target as the handler or the URL that it calls, a time relative to now. */
    private String tableCell(JsonNode item, String column) {
        JsonNode node = fieldAt(item, column);
        if (column.equals("target") && node.has("handler")) return cell(node, "handler");
        if (column.equals("target") && node.has("endpoint")) return "endpoint " + cell(node, "endpoint");
        if (column.equals("target") && node.has("url"))
            return (node.has("method") ? cell(node, "method") + " " : "") + cell(node, "url");
        if (column.equals("target") && node.has("event"))
            return "event " + cell(node, "event.topic") + "/" + cell(node, "event.type");
        if (isTexts(node)) return node.valueStream().map(Printer::value).collect(Collectors.joining(", "));
        if (!node.isString()) return value(node);
        String text = StoredError.headline(node.stringValue().strip());
        return value(timeText(text), text.indexOf('\n'));
    }

    /** Returns whether the node is a list of texts or numbers, which people read without brackets and quotes. */
    static boolean isTexts(JsonNode node) {
        return node.isArray() && !node.isEmpty() && node.valueStream().allMatch(JsonNode::isValueNode);
    }

    private static String value(String text, int end) {
        return ControlCharacters.escape(end < 0 ? text : text.substring(0, end).stripTrailing());
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

    static String value(JsonNode node) {
        if (node.isMissingNode() || node.isNull() || (node.isContainer() && node.isEmpty())) return NOTHING;
        return ControlCharacters.escape(node.isString() ? node.stringValue() : node.toString());
    }

    /** Prints an item with all its fields. */
    public void printItem(JsonNode item, String name) {
        shell.out().println(itemText(item, name));
    }

    /** Returns the text of {@link #printItem}, without the last newline. */
    public String itemText(JsonNode item, String name) {
        return switch (layout.format()) {
            case JSON -> JSON.writeValueAsString(item);
            case YAML -> Yaml.text(item);
            case NAME -> names(fieldAt(item, name));
            case TABLE -> new ItemFields(layout, shell.clock().instant()).text(item);
        };
    }

    /** Prints the result of a change: a sentence for people, the resulting object for programs. */
    public void printResult(String sentence, JsonNode item, String name) {
        if (isTable())
            shell.out().println(sentence.lines().map(ControlCharacters::escape).collect(Collectors.joining("\n")));
        else printItem(item, name);
    }

    /** Like {@link #printResult(String, JsonNode, String)}, but for an item that no longer exists. */
    public void printResult(String sentence, Map<String, String> item, String name) {
        ObjectNode node = JsonNodeFactory.instance.objectNode();
        item.forEach(node::put);
        printResult(sentence, node, name);
    }
}
