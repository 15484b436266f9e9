package io.carillon.server.http;

import io.carillon.CarillonException;
import io.carillon.internal.value.Durations;
import io.carillon.internal.value.PublicId;
import io.carillon.internal.value.SpellingSuggester;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
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
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads the fields of a JSON object by type. A missing required field, a value of another type and an unknown field are
 * rejected with a pointer to the field. Call {@link #refuseUnknown} after all fields were read.
 */
public final class JsonFields {

    private final ObjectNode object;
    private final String pointer;
    private final Set<String> readNames = new HashSet<>();

    JsonFields(ObjectNode object, String pointer) {
        this.object = object;
        this.pointer = pointer;
    }

    /** Rejects fields that were not read. */
    public void refuseUnknown() {
        for (String name : object.propertyNames())
            if (!readNames.contains(name))
                throw Problem.invalid(
                        pointerTo(name), "Unknown field." + SpellingSuggester.didYouMean(name, readNames));
    }

    /** Returns the same fields, read and unread, with pointers that start at this object. */
    public JsonFields fromHere() {
        JsonFields same = new JsonFields(object, "");
        same.readNames.addAll(readNames);
        return same;
    }

    public boolean has(String name) {
        return find(name).isPresent();
    }

    private Optional<JsonNode> find(String name) {
        readNames.add(name);
        JsonNode value = object.get(name);
        return value == null || value.isNull() ? Optional.empty() : Optional.of(value);
    }

    private String pointerTo(String name) {
        return pointer + "/" + Json.escapePointer(name);
    }

    private <T> Optional<T> typed(String name, Function<JsonNode, Optional<T>> reader, String expected) {
        return find(name)
                .map(value -> reader.apply(value)
                        .orElseThrow(() -> Problem.invalid(pointerTo(name), "This must be %s.".formatted(expected))));
    }

    public <T> T required(String name, Optional<T> value) {
        return value.orElseThrow(() -> Problem.invalid(pointerTo(name), "This field is required."));
    }

    public Optional<String> text(String name) {
        return typed(name, node -> node.isString() ? Optional.of(node.stringValue()) : Optional.empty(), "a string");
    }

    /** Reads a public id with this prefix, such as {@code usr}. */
    public Optional<UUID> publicId(String name, String prefix) {
        return text(name).map(text -> {
            try {
                return PublicId.parse(prefix, text);
            } catch (CarillonException malformed) {
                throw Problem.invalid(pointerTo(name), "This must be an id that begins with %s_.".formatted(prefix));
            }
        });
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
                "an integer");
    }

    public Optional<Integer> integer(String name) {
        return typed(
                name,
                node -> node.isIntegralNumber() && node.canConvertToInt()
                        ? Optional.of(node.intValue())
                        : Optional.empty(),
                "an integer between -2147483648 and 2147483647");
    }

    public Optional<Double> decimal(String name) {
        return typed(
                name,
                // Converts through BigDecimal: a number beyond the range of double becomes infinite there and is
                // filtered out; Jackson's own conversion throws.
                node -> node.isNumber()
                        ? Optional.of(node.decimalValue().doubleValue()).filter(Double::isFinite)
                        : Optional.empty(),
                "a number");
    }

    public Optional<Instant> instant(String name) {
        return typed(name, node -> node.isString() ? parseInstant(node.stringValue()) : Optional.empty(), INSTANT);
    }

    static final String INSTANT = "an instant such as 2026-03-29T01:00:00Z";

    public static Optional<Instant> parseInstant(String text) {
        try {
            OffsetDateTime at = OffsetDateTime.parse(text.toUpperCase(Locale.ROOT));
            // Only years that the database can store in every time zone.
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

    /** Reads a value of an enum, written in lower case with hyphens. */
    public <E extends Enum<E>> Optional<E> enumValue(String name, Class<E> type) {
        E[] all = type.getEnumConstants();
        List<String> words = Arrays.stream(all).map(JsonFields::enumText).toList();
        Optional<String> given = find(name).map(node -> node.stringValue(""));
        if (given.isPresent() && !words.contains(given.get()))
            throw Problem.invalid(
                    pointerTo(name),
                    "This must be one of %s.%s"
                            .formatted(String.join(", ", words), SpellingSuggester.didYouMean(given.get(), words)));
        return given.map(word -> all[words.indexOf(word)]);
    }

    /** Returns an enum value as it is written in JSON. */
    public static String enumText(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Reads any JSON value except null. */
    public Optional<JsonNode> jsonValue(String name) {
        return find(name);
    }

    public Optional<JsonFields> object(String name) {
        return typed(
                name,
                node -> node instanceof ObjectNode inner
                        ? Optional.of(new JsonFields(inner, pointerTo(name)))
                        : Optional.empty(),
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
                "an array of strings");
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
                "an array of integers");
    }

    /** Reads an object whose values are strings. The map keeps their order. */
    public Optional<Map<String, String>> textMap(String name) {
        return typed(
                name,
                node -> {
                    Map<String, String> all = new LinkedHashMap<>();
                    for (Map.Entry<String, JsonNode> one : node.properties())
                        if (one.getValue().isString())
                            all.put(one.getKey(), one.getValue().stringValue());
                    return node.isObject() && all.size() == node.size() ? Optional.of(all) : Optional.empty();
                },
                "an object whose values are strings");
    }

    public Optional<List<JsonFields>> objects(String name) {
        return typed(
                name,
                node -> {
                    List<JsonFields> all = new ArrayList<>();
                    for (int i = 0; node.isArray() && i < node.size(); i++)
                        if (node.get(i) instanceof ObjectNode inner)
                            all.add(new JsonFields(inner, pointerTo(name) + "/" + i));
                    return node.isArray() && all.size() == node.size() ? Optional.of(all) : Optional.empty();
                },
                "an array of objects");
    }

    /** Computes a value from a field. If Carillon rejects the field, the problem points to it. */
    public <T> T convert(String name, Supplier<T> value) {
        try {
            return value.get();
        } catch (CarillonException refused) {
            // An unreachable database is not an error of the field.
            if (ErrorMapping.toProblem(refused).status() >= 500) throw refused;
            throw Problem.of(422, refused.code().text(), String.valueOf(refused.getMessage()))
                    .withFault(pointerTo(name), String.valueOf(refused.getMessage()));
        }
    }

    /** Returns the name of the zone; of the default zone of intervals, which is an offset, the name that people use. */
    public static String zoneName(ZoneId zone) {
        return zone.equals(ZoneOffset.UTC) ? "UTC" : zone.getId();
    }
}
