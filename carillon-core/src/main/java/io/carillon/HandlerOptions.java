package io.carillon;

import io.carillon.run.Priority;
import io.carillon.run.Retry;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Names;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How runs of one handler are queued, limited and retried. Immutable; each method returns a changed copy. */
public record HandlerOptions(
        @Nullable String queue,
        Priority priority,
        Duration timeout,
        Retry retry,
        List<Class<? extends Throwable>> never,
        boolean keepPayload) {
    public HandlerOptions {
        if (queue != null) Names.check("queue", queue);
        never = List.copyOf(never);
        if (timeout.isNegative() || timeout.isZero() || timeout.compareTo(Duration.ofDays(30)) > 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The timeout %s is outside 1 ms..30 days. Choose one inside.".formatted(timeout));
    }

    static HandlerOptions defaults() {
        return new HandlerOptions(null, Priority.NORMAL, Duration.ofMinutes(15), Retry.defaults(), List.of(), false);
    }

    /** The queue its runs go to; the one with the name of the handler unless set. */
    public HandlerOptions queue(String queue) {
        return new HandlerOptions(queue, priority, timeout, retry, never, keepPayload);
    }

    /** The class of its runs unless an enqueue says otherwise. */
    public HandlerOptions priority(Priority priority) {
        return new HandlerOptions(queue, priority, timeout, retry, never, keepPayload);
    }

    /** How long one attempt may take; 15 minutes unless set. */
    public HandlerOptions timeout(Duration timeout) {
        return new HandlerOptions(queue, priority, timeout, retry, never, keepPayload);
    }

    /** When and how often a failed run is tried again. */
    public HandlerOptions retry(Retry retry) {
        return new HandlerOptions(queue, priority, timeout, retry, never, keepPayload);
    }

    /** Errors, also wrapped ones, that end the run at once. */
    @SafeVarargs
    public final HandlerOptions never(Class<? extends Throwable>... errors) {
        List<Class<? extends Throwable>> all = new ArrayList<>(never);
        for (Class<? extends Throwable> error : errors) all.add(error);
        return new HandlerOptions(queue, priority, timeout, retry, all, keepPayload);
    }

    /** Whether history keeps the payload of runs that succeeded, for as long as it keeps the run; false unless set. Dead runs keep theirs anyway. */
    public HandlerOptions keepPayload(boolean keep) {
        return new HandlerOptions(queue, priority, timeout, retry, never, keep);
    }
}
