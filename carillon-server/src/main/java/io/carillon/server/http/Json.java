package io.carillon.server.http;

import io.carillon.value.Text;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * JSON, strictly: one object, no field twice, nothing behind it, nested at most {@value #DEPTH} deep, numbers as they were written, and no text that
 * PostgreSQL could not give back unchanged.
 */
public final class Json {
    static final int DEPTH = 64;
    private static final int NUMBER = 400;

    private static final JsonMapper MAPPER = JsonMapper.builder(JsonFactory.builder()
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(DEPTH)
                            .maxNumberLength(NUMBER)
                            .maxNameLength(1_000)
                            .build())
                    .build())
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private Json() {}

    /** The object in a body, or a problem that says where it ends to be one. */
    static ObjectNode object(byte[] body) {
        JsonNode tree;
        try {
            tree = MAPPER.readTree(body);
        } catch (JacksonException failure) {
            throw malformed(told(failure));
        } catch (StackOverflowError | NumberFormatException | ArithmeticException odd) {
            throw malformed("A part of it is too large or too deep.");
        }
        if (!(tree instanceof ObjectNode object)) throw malformed("It is not an object.");
        badText(object, "").ifPresent(pointer -> {
            throw Problem.of(400, "malformed-json", "Text with NUL or an unpaired surrogate cannot be stored.")
                    .at(pointer, "Remove or encode the character.");
        });
        return object;
    }

    /** What the parser says, unless it speaks of itself. */
    private static String told(JacksonException failure) {
        String said = Text.clean(failure.getOriginalMessage(), 300);
        String what = said.contains("`") ? "A part of it is too large, too deep or too much." : said;
        TokenStreamLocation at = failure.getLocation();
        return at == null ? what : "%s (line %d, column %d)".formatted(what, at.getLineNr(), at.getColumnNr());
    }

    private static Problem malformed(String why) {
        return Problem.of(400, "malformed-json", "The body is not the JSON that is wanted: " + why);
    }

    private static Optional<String> badText(JsonNode node, String pointer) {
        if (node.isString()) return Text.isClean(node.stringValue()) ? Optional.empty() : Optional.of(pointer);
        for (int i = 0; node.isArray() && i < node.size(); i++) {
            Optional<String> found = badText(node.get(i), pointer + "/" + i);
            if (found.isPresent()) return found;
        }
        for (Map.Entry<String, JsonNode> field : node.properties()) {
            String here = pointer + "/" + escaped(field.getKey());
            if (!Text.isClean(field.getKey())) return Optional.of(here);
            Optional<String> found = badText(field.getValue(), here);
            if (found.isPresent()) return found;
        }
        return Optional.empty();
    }

    /** A name as a part of a JSON pointer. */
    static String escaped(String name) {
        return Text.clean(name, 200).replace("~", "~0").replace("/", "~1");
    }

    static byte[] bytes(Doc doc) {
        return MAPPER.writeValueAsBytes(doc.fields());
    }

    /** An object on one line. */
    public static String text(Doc doc) {
        return new String(bytes(doc), StandardCharsets.UTF_8);
    }

    /** A part of a body as it is stored. */
    public static byte[] bytes(JsonNode node) {
        return MAPPER.writeValueAsBytes(node);
    }

    /** What was stored, to be shown; empty where it is not JSON. */
    public static Optional<JsonNode> stored(byte[] bytes) {
        try {
            return Optional.ofNullable(MAPPER.readTree(bytes));
        } catch (JacksonException notJson) {
            return Optional.empty();
        }
    }
}
