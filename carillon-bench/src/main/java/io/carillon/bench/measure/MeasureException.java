package io.carillon.bench.measure;

/** A failed measurement, or a measurement whose result is not reliable. The message states what to check. */
public final class MeasureException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public MeasureException(String message) {
        super(message);
    }

    public MeasureException(String message, Throwable cause) {
        super(message, cause);
    }
}
