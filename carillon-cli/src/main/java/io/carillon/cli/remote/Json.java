package io.carillon.cli.remote;

import io.carillon.cli.shell.Secrets;
import io.carillon.cli.shell.UsageException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** JSON that somebody typed or keeps in a file. Numbers stay as they were written. */
final class Json {
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();

    private Json() {}

    static JsonNode parse(String what, String text) {
        try {
            return JSON.readTree(text);
        } catch (JacksonException wrong) {
            throw new UsageException(
                    "%s is no JSON: %s. In a shell, put it in single quotes, as in '{\"id\":7}'."
                            .formatted(what, wrong.getOriginalMessage()),
                    wrong);
        }
    }

    /** A text, or after an @ the name of a file that holds it; @- is standard input. */
    static JsonNode typed(String what, String text) {
        return parse(what, text.startsWith("@") ? Secrets.read(what, text.substring(1)) : text);
    }
}
