package io.carillon.internal.json;

/** A value cannot be written as JSON, or JSON does not fit a type. The message says why, for users. */
final class JsonFailure extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean tooDeep;

    private JsonFailure(String message, boolean tooDeep, Throwable cause) {
        super(message, cause);
        this.tooDeep = tooDeep;
    }

    static JsonFailure of(String message, Throwable cause) {
        return new JsonFailure(message, false, cause);
    }

    /** Returns a failure because of too many nested objects and arrays. */
    static JsonFailure tooDeep(String message, Throwable cause) {
        return new JsonFailure(message, true, cause);
    }

    boolean isTooDeep() {
        return tooDeep;
    }

    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }
}
