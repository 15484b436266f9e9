package io.carillon.server.http;

import io.carillon.value.CarillonException;
import io.carillon.value.Durations;
import io.carillon.value.Nearest;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Reads the fields of a JSON object by type. What is missing, of another type or not known is refused with a pointer to it; {@link #done} comes last. */
public final class Fields {

    private final ObjectNode object;
    private final String pointer;
    private final Set<String> read = new HashSet<>();

    Fields(ObjectNode object, String pointer) {
        this.object = object;
        this.pointer = pointer;
    }

    /** Refuses fields that nobody asked for. */
    public void done() {
        for (String name : object.propertyNames())
            if (!read.contains(name))
                throw Problem.invalid(at(name), "There is no such field." + Nearest.hint(name, read));
    }

    public boolean has(String name) {
        return find(name).isPresent();
    }

    private Optional<JsonNode> find(String name) {
        read.add(name);
        JsonNode value = object.get(name);
        return value == null || value.isNull() ? Optional.empty() : Optional.of(value);
    }

    private String at(String name) {
        return pointer + "/" + Json.escaped(name);
    }

    private <T> Optional<T> typed(String name, Function<JsonNode, Optional<T>> reader, String wanted) {
        return find(name)
                .map(value -> reader.apply(value)
                        .orElseThrow(() -> Problem.invalid(at(name), "This must be %s.".formatted(wanted))));
    }

    public <T> T required(String name, Optional<T> value) {
        return value.orElseThrow(() -> Problem.invalid(at(name), "This field is required."));
    }

    public Optional<String> text(String name) {
        return typed(name, node -> node.isString() ? Optional.of(node.stringValue()) : Optional.empty(), "a text");
    }

    public Optional<Boolean> flag(String name) {
        return typed(
                name, node -> node.isBoolean() ? Optional.of(node.booleanValue()) : Optional.empty(), "true or false");
    }

    public Optional<Long> number(String name) {
        return typed(
                name,
                node -> node.isIntegralNumber() && node.canConvertToLong()
                        ? Optional.of(node.longValue())
                        : Optional.empty(),
                "a whole number");
    }

    public Optional<Integer> integer(String name) {
        return typed(
                name,
                node -> node.isIntegralNumber() && node.canConvertToInt()
                        ? Optional.of(node.intValue())
                        : Optional.empty(),
                "a whole number below two billion");
    }

    public Optional<Double> real(String name) {
        return typed(
                name,
                // By way of a decimal: what no double holds becomes infinite there, and is thrown at us elsewhere.
                node -> node.isNumber()
                        ? Optional.of(node.decimalValue().doubleValue()).filter(Double::isFinite)
                        : Optional.empty(),
                "a number");
    }

    public Optional<Instant> instant(String name) {
        return typed(name, node -> node.isString() ? instantOf(node.stringValue()) : Optional.empty(), INSTANT);
    }

    static final String INSTANT = "an instant such as 2026-03-29T01:00:00Z";

    static Optional<Instant> instantOf(String text) {
        try {
            OffsetDateTime at = OffsetDateTime.parse(text.toUpperCase(Locale.ROOT));
            // Years that people write and the database keeps, in every zone.
            return at.getYear() > 1 && at.getYear() <= 9999 ? Optional.of(at.toInstant()) : Optional.empty();
        } catch (DateTimeParseException other) {
            return Optional.empty();
        }
    }

    public Optional<Duration> duration(String name) {
        return typed(
                name,
                node -> node.isString() ? Durations.parse(node.stringValue()) : Optional.empty(),
                "a duration such as PT90S or 90s");
    }

    /** One of the words of an enum, written in small letters with hyphens. */
    public <E extends Enum<E>> Optional<E> word(String name, Class<E> type) {
        E[] all = type.getEnumConstants();
        List<String> words = Arrays.stream(all).map(Fields::wordOf).toList();
        Optional<String> given = find(name).map(node -> node.stringValue(""));
        if (given.isPresent() && !words.contains(given.get()))
            throw Problem.invalid(
                    at(name),
                    "This must be one of %s.%s".formatted(String.join(", ", words), Nearest.hint(given.get(), words)));
        return given.map(word -> all[words.indexOf(word)]);
    }

    /** An enum's word on the wire. */
    public static String wordOf(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Any JSON value but null. */
    public Optional<JsonNode> any(String name) {
        return find(name);
    }

    public Optional<Fields> object(String name) {
        return typed(
                name,
                node -> node instanceof ObjectNode inner ? Optional.of(new Fields(inner, at(name))) : Optional.empty(),
                "an object");
    }

    public Optional<List<String>> texts(String name) {
        return typed(
                name,
                node -> {
                    List<String> all = new ArrayList<>();
                    for (JsonNode one : node) if (one.isString()) all.add(one.stringValue());
                    return node.isArray() && all.size() == node.size() ? Optional.of(all) : Optional.empty();
                },
                "a list of texts");
    }

    public Optional<List<Integer>> integers(String name) {
        return typed(
                name,
                node -> {
                    List<Integer> all = new ArrayList<>();
                    for (JsonNode one : node)
                        if (one.isIntegralNumber() && one.canConvertToInt()) all.add(one.intValue());
                    return node.isArray() && all.size() == node.size() ? Optional.of(all) : Optional.empty();
                },
                "a list of whole numbers");
    }

    /** An object whose fields are texts of any name, in their order. */
    public Optional<Map<String, String>> textsByName(String name) {
        return typed(
                name,
                node -> {
                    Map<String, String> all = new LinkedHashMap<>();
                    for (Map.Entry<String, JsonNode> one : node.properties())
                        if (one.getValue().isString())
                            all.put(one.getKey(), one.getValue().stringValue());
                    return node.isObject() && all.size() == node.size() ? Optional.of(all) : Optional.empty();
                },
                "an object of texts");
    }

    public Optional<List<Fields>> objects(String name) {
        return typed(
                name,
                node -> {
                    List<Fields> all = new ArrayList<>();
                    for (int i = 0; node.isArray() && i < node.size(); i++)
                        if (node.get(i) instanceof ObjectNode inner) all.add(new Fields(inner, at(name) + "/" + i));
                    return node.isArray() && all.size() == node.size() ? Optional.of(all) : Optional.empty();
                },
                "a list of objects");
    }

    /** Makes a value of a field; what the product refuses about it points to the field. */
    public <T> T making(String name, Supplier<T> value) {
        try {
            return value.get();
        } catch (CarillonException refused) {
            // The database being away is nothing that the field could help.
            if (Troubles.of(refused).status() >= 500) throw refused;
            throw Problem.of(422, refused.code().text(), String.valueOf(refused.getMessage()))
                    .at(at(name), String.valueOf(refused.getMessage()));
        }
    }
}
