package io.carillon.internal.engine.attempt;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.RetryRule;
import io.carillon.internal.run.RunHeaders;
import io.carillon.internal.run.RunInfos;
import io.carillon.run.Outcome;
import io.carillon.run.RunContext;
import io.carillon.spi.AttemptInterceptor;
import java.sql.Connection;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A registered handler that is ready to be called: its name, the default queue of its runs, its limits, and the call
 * that decodes the payload and runs user code.
 *
 * @param handlesCancel whether a cancelled attempt releases its run, so that the store or the next attempt ends
 *     it, unless the attempt says that it may end
 */
public record BoundHandler(
        String name,
        String queue,
        Duration timeout,
        RetryRule retry,
        boolean transactional,
        boolean keepPayload,
        Call call,
        boolean handlesCancel) {
    /** Creates a handler that does not handle cancels. */
    public BoundHandler(
            String name,
            String queue,
            Duration timeout,
            RetryRule retry,
            boolean transactional,
            boolean keepPayload,
            Call call) {
        this(name, queue, timeout, retry, transactional, keepPayload, call, false);
    }

    /** Creates a handler whose queue has the handler's name. */
    public BoundHandler(String name, Duration timeout, RetryRule retry, boolean transactional, Call call) {
        this(name, name, timeout, retry, transactional, false, call);
    }

    /** Returns this handler with an interceptor that runs before each call. */
    public BoundHandler withInterceptor(AttemptInterceptor interceptor) {
        return withCall((attempt, context, connection) -> {
            interceptor.beforeHandler(RunInfos.of(attempt));
            return call.run(attempt, context, connection);
        });
    }

    /** Returns this handler with a call that restores the context from the headers of the run. */
    public BoundHandler withHeaders(RunHeaders headers) {
        return withCall((attempt, context, connection) ->
                headers.runWithContext(attempt, () -> call.run(attempt, context, connection)));
    }

    private BoundHandler withCall(Call other) {
        return new BoundHandler(name, queue, timeout, retry, transactional, keepPayload, other, handlesCancel);
    }

    /**
     * Decodes the payload and runs user code. Everything it throws is a failure. The connection is null unless the
     * handler is transactional.
     */
    @FunctionalInterface
    public interface Call {
        Outcome run(Attempt attempt, RunContext context, @Nullable Connection connection) throws Exception;
    }
}
