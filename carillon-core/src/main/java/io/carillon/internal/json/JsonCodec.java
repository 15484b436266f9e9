package io.carillon.internal.json;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.TextCleaner;
import io.carillon.spi.PayloadCodec;
import java.util.Objects;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Encodes payloads as JSON with a fixed target type: the JSON contains no class names, and unknown fields are ignored.
 * Text that PostgreSQL or other readers cannot return unchanged (NUL, unpaired surrogates) is rejected; the error
 * contains a JSON pointer to it.
 */
public final class JsonCodec implements PayloadCodec {
    static {
        // Initialised before any payload is written: an initialiser that meets a full stack leaves its class unusable.
        Objects.requireNonNull(TokenStreamLocation.NA);
    }

    private final JsonMapper mapper;

    public JsonCodec() {
        this(JsonMapper.builder()
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .build());
    }

    /** Creates a codec with a mapper of the user. */
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
        } catch (StreamConstraintsException tooDeep) {
            // No tree of it: a tree has no limit, and the stack would overflow while it is built.
            throw unwritable(value, tooDeep.getOriginalMessage(), tooDeep);
        } catch (JacksonException failure) {
            throw unstorableTextError(value).orElseGet(() -> unwritable(value, failure.getOriginalMessage(), failure));
        } catch (StackOverflowError tooDeep) {
            throw unwritable(value, "it is nested too deeply", tooDeep);
        }
        if (mayHoldUnstorableText(bytes))
            unstorableTextError(value).ifPresent(bad -> {
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
                ("The stored payload does not fit %s: %s. Accept the older type with HandlerType.accepting,"
                                + " or redrive with a payload that fits.")
                        .formatted(type.getSimpleName(), why),
                cause);
    }

    private static CarillonException unwritable(Object value, String why, Throwable cause) {
        return new CarillonException(
                ErrorCode.PAYLOAD_UNWRITABLE,
                "%s cannot be written as JSON: %s"
                        .formatted(value.getClass().getSimpleName(), TextCleaner.clean(why, 500)),
                cause);
    }

    /**
     * Returns whether the JSON may contain NUL or an unpaired surrogate. Both are always written as escapes; the caller
     * checks the tree to be sure.
     */
    private static boolean mayHoldUnstorableText(byte[] bytes) {
        for (int i = 0; i + 5 < bytes.length; i++) {
            if (bytes[i] != '\\' || bytes[i + 1] != 'u') continue;
            boolean zero = bytes[i + 2] == '0' && bytes[i + 3] == '0' && bytes[i + 4] == '0' && bytes[i + 5] == '0';
            boolean surrogate = (bytes[i + 2] | 0x20) == 'd' && bytes[i + 3] >= '8';
            if (zero || surrogate) return true;
        }
        return false;
    }

    private Optional<CarillonException> unstorableTextError(Object value) {
        JsonNode tree;
        try {
            tree = mapper.valueToTree(value);
        } catch (JacksonException | StackOverflowError notEvenATree) {
            return Optional.empty();
        }
        return UnstorableText.find(tree, "")
                .map(pointer -> new CarillonException(
                        ErrorCode.PAYLOAD_UNWRITABLE,
                        ("The text at '%s' of this %s contains NUL or an unpaired surrogate, which cannot be stored."
                                        + " Remove or encode it.")
                                .formatted(pointer, value.getClass().getSimpleName())));
    }
}
