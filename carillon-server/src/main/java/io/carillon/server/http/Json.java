package io.carillon.server.http;

import io.carillon.internal.value.TextCleaner;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * A strict JSON parser for request bodies: one object, no duplicate fields, nothing after the object, at most
 * {@value #DEPTH} levels of nesting. Numbers keep their exact value. Text that PostgreSQL could not return
 * unchanged is rejected.
 */
public final class Json {
    static final int DEPTH = 64;
    private static final int MAX_NUMBER_LENGTH = 400;
    private static final int MAX_NAME_LENGTH = 1_000;
    /**
     * More than a payload of the maximum size can have. A tree of tokens needs many times the memory of its text:
     * without this limit, 2 MiB of brackets become more than 100 MiB.
     */
    static final int MAX_TOKENS = 300_000;
    /** The memory that a token of a tree uses, on average over the most wasteful documents. */
    private static final long BYTES_PER_TOKEN = 64;
    /** The trees of smaller bodies are not counted: those of all requests in progress together are small. */
    private static final int MIN_COUNTED_BODY = 8 * 1024;

    /** The start of the parser's message, of several exceptions, if a body ends too early. */
    private static final String END_OF_INPUT = "Unexpected end-of-input";

    private static final String LIMITS =
            ("a part is too large. Allowed are %d levels, %d values, names and brackets, %d characters in a number"
                            + " and %d in a name")
                    .formatted(DEPTH, MAX_TOKENS, MAX_NUMBER_LENGTH, MAX_NAME_LENGTH);

    private static final StreamReadConstraints CONSTRAINTS = StreamReadConstraints.builder()
            .maxNestingDepth(DEPTH)
            .maxNumberLength(MAX_NUMBER_LENGTH)
            .maxNameLength(MAX_NAME_LENGTH)
            .maxStringLength(Route.MAX_BODY_BYTES)
            .maxTokenCount(MAX_TOKENS)
            .build();

    /** Counts tokens without keeping anything. */
    private static final JsonMapper COUNTER = JsonMapper.builder(
                    JsonFactory.builder().streamReadConstraints(CONSTRAINTS).build())
            .build();

    private static final JsonMapper MAPPER = JsonMapper.builder(JsonFactory.builder()
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .streamReadConstraints(CONSTRAINTS)
                    .build())
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private Json() {}

    /** Parses a body; throws a problem that says where the body is not a valid JSON object. */
    static ObjectNode parseObject(byte[] body) {
        JsonNode tree;
        try {
            tree = MAPPER.readTree(body);
        } catch (JacksonException failure) {
            if (String.valueOf(failure.getOriginalMessage()).startsWith(END_OF_INPUT))
                throw malformed("it is truncated: the body ends before its JSON does" + placeOf(failure) + ".");
            throw malformed(parserMessage(failure));
        } catch (StackOverflowError | NumberFormatException | ArithmeticException odd) {
            throw malformed(LIMITS + ".");
        }
        if (tree.isMissingNode()) throw malformed("it is empty.");
        if (!(tree instanceof ObjectNode object)) throw malformed("it is not an object.");
        findUnstorableText(object, "").ifPresent(pointer -> {
            throw Problem.of(
                            400,
                            "malformed-json",
                            "The body contains NUL or an unpaired surrogate, which cannot be stored."
                                    + " The field \"errors\" says where.")
                    .withFault(pointer, "Remove or encode the character.");
        });
        return object;
    }

    /** Returns the memory that the tree of a body needs, about; less if the parser will reject the body. */
    static long treeBytes(byte[] body) {
        if (body.length < MIN_COUNTED_BODY) return 0;
        long tokens = 0;
        try (JsonParser parser = COUNTER.createParser(body)) {
            while (parser.nextToken() != null) tokens++;
        } catch (JacksonException malformed) {
            // The tree ends at the same place.
        }
        return tokens * BYTES_PER_TOKEN;
    }

    /** Returns the parser's message, unless it mentions parser settings, which mean nothing to callers. */
    private static String parserMessage(JacksonException failure) {
        String said = TextCleaner.clean(failure.getOriginalMessage(), 300);
        String what = said.contains("`") ? LIMITS : said;
        return what + placeOf(failure);
    }

    private static String placeOf(JacksonException failure) {
        TokenStreamLocation at = failure.getLocation();
        return at == null ? "" : " (line %d, column %d)".formatted(at.getLineNr(), at.getColumnNr());
    }

    private static Problem malformed(String why) {
        return Problem.of(400, "malformed-json", "The body is not a valid JSON object: " + why);
    }

    private static Optional<String> findUnstorableText(JsonNode node, String pointer) {
        if (node.isString()) return TextCleaner.isClean(node.stringValue()) ? Optional.empty() : Optional.of(pointer);
        for (int i = 0; node.isArray() && i < node.size(); i++) {
            Optional<String> found = findUnstorableText(node.get(i), pointer + "/" + i);
            if (found.isPresent()) return found;
        }
        for (Map.Entry<String, JsonNode> field : node.properties()) {
            String here = pointer + "/" + escapePointer(field.getKey());
            if (!TextCleaner.isClean(field.getKey())) return Optional.of(here);
            Optional<String> found = findUnstorableText(field.getValue(), here);
            if (found.isPresent()) return found;
        }
        return Optional.empty();
    }

    /** Escapes a field name for use in a JSON pointer. */
    static String escapePointer(String name) {
        return TextCleaner.clean(name, 200).replace("~", "~0").replace("/", "~1");
    }

    static byte[] bytes(JsonObject jsonObject) {
        return MAPPER.writeValueAsBytes(jsonObject.fields());
    }

    /** Returns the object as JSON text on one line. */
    public static String text(JsonObject jsonObject) {
        return new String(bytes(jsonObject), StandardCharsets.UTF_8);
    }

    /** Returns a part of a body as the bytes to store. */
    public static byte[] bytes(JsonNode node) {
        return MAPPER.writeValueAsBytes(node);
    }

    /** Parses stored bytes; empty if they are not JSON. */
    public static Optional<JsonNode> parseStored(byte[] bytes) {
        try {
            return Optional.ofNullable(MAPPER.readTree(bytes));
        } catch (JacksonException notJson) {
            return Optional.empty();
        }
    }
}
