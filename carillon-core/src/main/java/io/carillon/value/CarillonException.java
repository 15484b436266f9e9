package io.carillon.value;

import org.jspecify.annotations.Nullable;

/** The one exception of Carillon: a stable {@link #code()} for programs and a message that says what, which, and what to do. */
public class CarillonException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final ErrorCode code;

    public CarillonException(ErrorCode code, String message) {
        this(code, message, null);
    }

    public CarillonException(ErrorCode code, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /** What went wrong, for programs. */
    public ErrorCode code() {
        return code;
    }

    /** The answer of a part that a later version brings. */
    public static CarillonException notYet(String what) {
        return new CarillonException(ErrorCode.NOT_YET, what + " is not available in this version yet.");
    }
}
