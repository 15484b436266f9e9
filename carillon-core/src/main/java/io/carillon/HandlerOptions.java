package io.carillon;

import io.carillon.internal.value.Names;
import io.carillon.run.Priority;
import io.carillon.run.Retry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Options of a handler: queue, priority, timeout and retries of its runs. Immutable; each method returns
 * a changed copy.
 */
public final class HandlerOptions {
    private final @Nullable String queue;
    private final Priority priority;
    private final Duration timeout;
    private final Retry retry;
    private final List<Class<? extends Throwable>> noRetryOn;
    private final boolean keepPayload;

    private HandlerOptions(
            @Nullable String queue,
            Priority priority,
            Duration timeout,
            Retry retry,
            List<Class<? extends Throwable>> noRetryOn,
            boolean keepPayload) {
        if (queue != null) Names.check("queue", queue);
        if (timeout.isNegative() || timeout.isZero() || timeout.compareTo(Duration.ofDays(30)) > 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "timeout must be between 1 ms and 30 days (was %s).".formatted(timeout));
        this.queue = queue;
        this.priority = priority;
        this.timeout = timeout;
        this.retry = retry;
        this.noRetryOn = List.copyOf(noRetryOn);
        this.keepPayload = keepPayload;
    }

    /** Returns the default options. Each method that sets an option names its default. */
    public static HandlerOptions defaults() {
        return new HandlerOptions(null, Priority.NORMAL, Duration.ofMinutes(15), Retry.defaults(), List.of(), false);
    }

    /** Sets the queue of the runs. Default: the queue named after the handler. */
    public HandlerOptions queue(String queue) {
        return new HandlerOptions(queue, priority, timeout, retry, noRetryOn, keepPayload);
    }

    /**
     * Sets the priority of the runs, which {@link io.carillon.run.Enqueue#priority} can override.
     * Default: {@link Priority#NORMAL}.
     */
    public HandlerOptions priority(Priority priority) {
        return new HandlerOptions(queue, priority, timeout, retry, noRetryOn, keepPayload);
    }

    /** Sets how long one attempt may take. Default: 15 minutes. */
    public HandlerOptions timeout(Duration timeout) {
        return new HandlerOptions(queue, priority, timeout, retry, noRetryOn, keepPayload);
    }

    /** Sets how often and after which delays a failed run is retried. Default: {@link Retry#defaults}. */
    public HandlerOptions retry(Retry retry) {
        return new HandlerOptions(queue, priority, timeout, retry, noRetryOn, keepPayload);
    }

    /**
     * Adds exception types that end the run without a retry. The causes of an exception are checked too. Default: none.
     */
    @SafeVarargs
    public final HandlerOptions noRetryOn(Class<? extends Throwable>... errors) {
        List<Class<? extends Throwable>> all = new ArrayList<>(noRetryOn);
        for (Class<? extends Throwable> error : errors) all.add(error);
        return new HandlerOptions(queue, priority, timeout, retry, all, keepPayload);
    }

    /**
     * Sets whether history keeps the payload of succeeded runs for as long as it keeps the run. Default: false. Dead
     * runs always keep their payload.
     */
    public HandlerOptions keepPayload(boolean keep) {
        return new HandlerOptions(queue, priority, timeout, retry, noRetryOn, keep);
    }

    /** Returns the queue of the runs; null for the queue named after the handler. */
    public @Nullable String queue() {
        return queue;
    }

    /** Returns the priority of the runs. */
    public Priority priority() {
        return priority;
    }

    /** Returns how long one attempt may take. */
    public Duration timeout() {
        return timeout;
    }

    /** Returns how often and after which delays a failed run is retried. */
    public Retry retry() {
        return retry;
    }

    /** Returns the exception types that end the run without a retry. */
    public List<Class<? extends Throwable>> noRetryOn() {
        return noRetryOn;
    }

    /** Returns whether history keeps the payload of succeeded runs. */
    public boolean keepPayload() {
        return keepPayload;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof HandlerOptions that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "HandlerOptions[queue=%s, priority=%s, timeout=%s, retry=%s, noRetryOn=%s, keepPayload=%s]"
                .formatted(values().toArray());
    }

    private List<@Nullable Object> values() {
        return Arrays.asList(queue, priority, timeout, retry, noRetryOn, keepPayload);
    }
}
