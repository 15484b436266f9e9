package io.carillon.bench.measure;

/** A measurement that could not be made, or whose result cannot be trusted; the message says what to look at. */
public final class MeasureException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public MeasureException(String message) {
        super(message);
    }

    public MeasureException(String message, Throwable cause) {
        super(message, cause);
    }
}
