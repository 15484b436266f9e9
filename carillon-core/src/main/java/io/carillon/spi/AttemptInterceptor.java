package io.carillon.spi;

import io.carillon.run.Attempt;

/**
 * Called immediately before a handler. An exception from the interceptor fails the attempt; the retry settings of the
 * handler apply.
 */
@FunctionalInterface
public interface AttemptInterceptor {
    void beforeHandler(Attempt attempt) throws Exception;
}
