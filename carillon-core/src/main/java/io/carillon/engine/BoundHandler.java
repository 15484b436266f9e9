package io.carillon.engine;

import io.carillon.run.Attempt;
import io.carillon.run.AttemptGuard;
import io.carillon.run.Luggage;
import io.carillon.run.Outcome;
import io.carillon.run.RetryRule;
import io.carillon.run.RunContext;
import java.sql.Connection;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A registered handler, ready to be called: names it answers to, the queue its runs go to unless they say otherwise, its limits, and the call that decodes
 * the payload and runs user code.
 */
public record BoundHandler(
        String name,
        String queue,
        Duration timeout,
        RetryRule retry,
        boolean transactional,
        boolean keepPayload,
        Call call) {
    /** One of the queue with its own name. */
    public BoundHandler(String name, Duration timeout, RetryRule retry, boolean transactional, Call call) {
        this(name, name, timeout, retry, transactional, false, call);
    }

    /** The same handler, called only after the guard was asked. */
    BoundHandler guardedBy(AttemptGuard guard) {
        return new BoundHandler(
                name, queue, timeout, retry, transactional, keepPayload, (attempt, context, connection) -> {
                    guard.check(attempt);
                    return call.run(attempt, context, connection);
                });
    }

    /** The same handler, called inside what travelled with its run. */
    public BoundHandler accompaniedBy(Luggage luggage) {
        return new BoundHandler(
                name,
                queue,
                timeout,
                retry,
                transactional,
                keepPayload,
                (attempt, context, connection) ->
                        luggage.around(attempt, () -> call.run(attempt, context, connection)));
    }

    /** Runs user code; everything it throws is a failure. The connection is set for transactional handlers only. */
    @FunctionalInterface
    public interface Call {
        Outcome run(Attempt attempt, RunContext context, @Nullable Connection connection) throws Exception;
    }
}
