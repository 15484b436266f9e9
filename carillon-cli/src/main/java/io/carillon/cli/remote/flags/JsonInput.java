package io.carillon.cli.remote.flags;

import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.UsageException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Parses JSON or YAML from an option or a file. Numbers stay as they were written. */
public final class JsonInput {
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();

    private JsonInput() {}

    /** Parses a file with JSON, or with YAML if it does not begin with a bracket. */
    public static JsonNode parseFile(String what, String text) {
        String content = text.strip();
        return content.startsWith("{") || content.startsWith("[") ? parse(what, text) : YamlInput.parse(what, text);
    }

    public static JsonNode parse(String what, String text) {
        try {
            return JSON.readTree(text);
        } catch (JacksonException wrong) {
            String advice = what.startsWith("--") ? " In a shell, put it in single quotes, as in '{\"id\":7}'." : "";
            throw new UsageException(
                    "%s is not valid JSON: %s.%s".formatted(what, wrong.getOriginalMessage(), advice), wrong);
        }
    }

    /** Parses the text, or the file that it names after an @; @- is standard input. */
    public static JsonNode parseOrReadFile(String what, String text) {
        return text.startsWith("@")
                ? parse("The file of " + what, SecretFiles.readText(what, text.substring(1)))
                : parse(what, text);
    }
}
