package io.carillon.cli.answer;

import io.carillon.internal.value.ControlCharacters;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * An item as lines for people: one field per line, the fields of an object as {@code paused.reason}, those of an object
 * in a list as {@code secrets.0.name}. Further lines of a value are indented.
 */
final class ItemFields {
    private static final JsonMapper INDENTED =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    /** Fields that contain data of users: they are shown as JSON, not field by field. */
    private static final Set<String> USER_DATA = Set.of("payload", "result", "labels", "data");
    /** Fields whose names are data too: one line for each, as in a message. */
    private static final Set<String> HEADERS = Set.of("headers");

    /** Longer data has a line for each of its values. */
    private static final int MAX_DATA_LINE = 100;

    private static final int GAP = 2;

    private final Layout layout;
    private final Instant now;
    private final List<List<String>> rows = new ArrayList<>();

    ItemFields(Layout layout, Instant now) {
        this.layout = layout;
        this.now = now;
    }

    String text(JsonNode item) {
        add("", item);
        int widest = rows.stream().mapToInt(row -> row.get(0).length()).max().orElse(0);
        String indent = "\n" + " ".repeat(widest + GAP);
        return Table.text(
                rows.stream()
                        .map(row -> List.of(row.get(0), row.get(1).replace("\n", indent)))
                        .toList(),
                Table.Fit.NONE);
    }

    private void add(String prefix, JsonNode object) {
        for (Map.Entry<String, JsonNode> field : object.properties()) {
            String name = prefix + field.getKey();
            JsonNode value = field.getValue();
            if (USER_DATA.contains(field.getKey())) addRow(name, data(value));
            else if (HEADERS.contains(field.getKey()) && value.isObject() && !value.isEmpty())
                addRow(name, headers(value));
            else if (value.isObject() && !value.isEmpty()) add(name + ".", value);
            else if (isObjects(value)) for (int i = 0; i < value.size(); i++) add(name + "." + i + ".", value.get(i));
            else if (Printer.isTexts(value))
                addRow(name, value.valueStream().map(this::fieldText).collect(Collectors.joining("\n")));
            else addRow(name, fieldText(value));
        }
    }

    private void addRow(String name, String text) {
        rows.add(List.of(ControlCharacters.escape(name), text));
    }

    private String data(JsonNode value) {
        String line = fieldText(value);
        if (!value.isContainer() || line.length() <= MAX_DATA_LINE) return line;
        return INDENTED.writeValueAsString(value)
                .lines()
                .map(ControlCharacters::escape)
                .collect(Collectors.joining("\n"));
    }

    private static boolean isObjects(JsonNode node) {
        return node.isArray()
                && !node.isEmpty()
                && node.valueStream().allMatch(one -> one.isObject() && !one.isEmpty());
    }

    private static String headers(JsonNode headers) {
        return headers.properties().stream()
                .map(header -> ControlCharacters.escape(header.getKey()) + ": " + Printer.value(header.getValue()))
                .collect(Collectors.joining("\n"));
    }

    private String fieldText(JsonNode node) {
        if (!node.isString()) return Printer.value(node);
        String text = node.stringValue();
        if (!text.strip().contains("\n")) return ControlCharacters.escape(timeText(text));
        List<String> lines = StoredError.matches(text) && !layout.wide()
                ? StoredError.brief(text)
                : text.strip().lines().map(line -> line.replace("\t", "    ")).toList();
        return lines.stream().map(ControlCharacters::escape).collect(Collectors.joining("\n"));
    }

    /** Returns the text, with words instead of a duration, and an instant with its distance from now. */
    private String timeText(String text) {
        Optional<Instant> instant = TimeText.instant(text);
        if (instant.isEmpty()) return TimeText.duration(text).orElse(text);
        String relative = TimeText.relative(instant.get(), now);
        // An instant that is far away would only be its date again.
        return layout.absolute() || text.startsWith(relative) ? text : "%s  (%s)".formatted(text, relative);
    }
}
