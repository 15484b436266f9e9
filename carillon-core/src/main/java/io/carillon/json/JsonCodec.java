package io.carillon.json;

import io.carillon.run.PayloadCodec;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * JSON with a fixed target type: no class names on the wire, unknown fields ignored. Text that PostgreSQL or other readers could not give back unchanged (NUL,
 * unpaired surrogates) is refused with a pointer to it.
 */
public final class JsonCodec implements PayloadCodec {
    private static final byte[] ESCAPED_NUL = "\\u0000".getBytes(StandardCharsets.US_ASCII);

    private final JsonMapper mapper;

    public JsonCodec() {
        this(JsonMapper.builder()
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .build());
    }

    /** With a mapper of the user's own. */
    public JsonCodec(JsonMapper mapper) {
        this.mapper = mapper;
    }

    @Override
    public String name() {
        return "json";
    }

    @Override
    public byte[] encode(Object value) {
        byte[] bytes;
        try {
            bytes = mapper.writeValueAsBytes(value);
        } catch (JacksonException failure) {
            throw badText(value)
                    .orElseGet(() -> new CarillonException(
                            ErrorCode.PAYLOAD_UNWRITABLE,
                            "A %s cannot be written as JSON: %s"
                                    .formatted(value.getClass().getSimpleName(), failure.getOriginalMessage()),
                            failure));
        }
        if (contains(bytes, ESCAPED_NUL))
            badText(value).ifPresent(bad -> {
                throw bad;
            });
        return bytes;
    }

    @Override
    public <T> T decode(byte[] bytes, Class<T> type) {
        try {
            T value = mapper.readValue(bytes, type);
            if (value == null) throw unreadable(type, "it is null", null);
            return value;
        } catch (JacksonException failure) {
            throw unreadable(type, failure.getOriginalMessage(), failure);
        }
    }

    private static CarillonException unreadable(
            Class<?> type, String why, @org.jspecify.annotations.Nullable Throwable cause) {
        return new CarillonException(
                ErrorCode.PAYLOAD_UNREADABLE,
                "The stored payload does not fit %s: %s. Accept the older form with HandlerType.accepting, or redrive with a payload that fits."
                        .formatted(type.getSimpleName(), why),
                cause);
    }

    private static boolean contains(byte[] bytes, byte[] part) {
        outer:
        for (int i = 0; i <= bytes.length - part.length; i++) {
            for (int j = 0; j < part.length; j++) if (bytes[i + j] != part[j]) continue outer;
            return true;
        }
        return false;
    }

    private Optional<CarillonException> badText(Object value) {
        JsonNode tree;
        try {
            tree = mapper.valueToTree(value);
        } catch (JacksonException notEvenATree) {
            return Optional.empty();
        }
        return BadText.find(tree, "")
                .map(pointer -> new CarillonException(
                        ErrorCode.PAYLOAD_UNWRITABLE,
                        "The text at '%s' of this %s holds NUL or an unpaired surrogate, which cannot be stored. Remove or encode it."
                                .formatted(pointer, value.getClass().getSimpleName())));
    }
}
