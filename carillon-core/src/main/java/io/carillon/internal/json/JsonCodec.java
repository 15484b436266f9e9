package io.carillon.internal.json;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.TextCleaner;
import io.carillon.spi.PayloadCodec;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Encodes payloads as JSON with a fixed target type: the JSON contains no class names, and unknown fields are ignored.
 * Text that PostgreSQL or other readers cannot return unchanged (NUL, unpaired surrogates) is rejected; the error
 * contains a JSON pointer to it. {@link FoundLibrary} chooses the library that writes and reads.
 */
public final class JsonCodec implements PayloadCodec {
    private final JsonLibrary library;

    /** Creates a codec with the JSON library of the class path. Throws a {@code CarillonException} if there is none. */
    public JsonCodec() {
        this(FoundLibrary.onClassPath());
    }

    JsonCodec(JsonLibrary library) {
        this.library = library;
    }

    @Override
    public String name() {
        return "json";
    }

    @Override
    public byte[] encode(Object value) {
        byte[] bytes;
        try {
            bytes = library.write(value);
        } catch (JsonFailure failure) {
            // No tree of a value that is too deep: a tree has no limit, and the stack would overflow.
            Optional<CarillonException> unstorable =
                    failure.isTooDeep() ? Optional.empty() : unstorableTextError(value);
            throw unstorable.orElseGet(() -> unwritable(value, failure.getMessage(), failure));
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
            T value = library.read(bytes, type);
            if (value == null) throw unreadable(type, "it is null", null);
            return value;
        } catch (JsonFailure failure) {
            throw unreadable(type, failure.getMessage(), failure);
        }
    }

    private static CarillonException unreadable(Class<?> type, String why, @Nullable Throwable cause) {
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
        @Nullable Object tree;
        try {
            tree = library.toTree(value);
        } catch (JsonFailure | StackOverflowError notEvenATree) {
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
