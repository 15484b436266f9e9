package io.carillon.spi;

/**
 * Called immediately before a handler. An exception from the interceptor fails the attempt; the retry settings of the
 * handler apply.
 */
@FunctionalInterface
public interface AttemptInterceptor {
    void beforeHandler(RunInfo run) throws Exception;
}
