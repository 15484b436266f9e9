package io.carillon.run;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.Names;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Options for storing a run: due time, priority, unique key, queue, retries, timeout, and a key that limits or orders
 * runs. Immutable; each method returns a changed copy.
 */
public final class Enqueue {
    private static final Duration MAX_DELAY = Duration.ofDays(36_500);
    private static final Duration MIN_WINDOW = Duration.ofSeconds(1);
    private static final Duration MAX_WINDOW = Duration.ofDays(366);
    private static final Instant MAX_INSTANT = Instant.parse("9999-12-31T23:59:59Z");
    private static final Duration MIN_PERIOD = Duration.ofSeconds(1);
    private static final Duration MAX_PERIOD = Duration.ofDays(1);
    private static final int MAX_LIMIT = 1_000;
    private static final int MAX_AWAITED = 1_000;

    /**
     * When a run is due: after a delay, measured by the database clock, at a given instant, or when other runs have
     * ended.
     */
    public sealed interface Due {
        record After(Duration delay) implements Due {}

        record At(Instant instant) implements Due {}

        /** When all of these runs have ended; {@code onFailure} says what follows if one of them did not succeed. */
        record AfterRuns(Set<RunId> runs, OnFailure onFailure) implements Due {
            public AfterRuns {
                runs = Collections.unmodifiableSet(new LinkedHashSet<>(runs));
                if (runs.isEmpty() || runs.size() > MAX_AWAITED)
                    throw invalid("A run can wait for 1 to %d runs (was %d).".formatted(MAX_AWAITED, runs.size()));
            }
        }
    }

    /**
     * What happens to a run if a run that it waits for did not succeed: it ended dead, cancelled or quarantined, was
     * skipped or missed, does not exist in the project, or has left the history.
     */
    public enum OnFailure {
        /** The run is cancelled. Runs that wait for this run follow their own setting. */
        CANCEL,
        /** The run executes, as after a success. */
        RUN_ANYWAY,
        /**
         * The run waits until the dead run was redriven and has succeeded. It is cancelled if the awaited run cannot be
         * redriven.
         */
        WAIT
    }

    /**
     * The limit or order that a concurrency key, FIFO key or rate key puts on the run.
     *
     * @param limit how many runs execute at a time, or start within the period
     * @param period the period of a rate limit; null otherwise
     */
    public record KeyLimit(
            Kind kind, String key, int limit, @Nullable Duration period) {
        /** The kinds of keys. */
        public enum Kind {
            /** At most {@code limit} runs of the key execute at a time. */
            CONCURRENCY,
            /** The runs of the key execute one after the other, in the order in which they were stored. */
            FIFO,
            /** At most {@code limit} runs of the key start within any period. */
            RATE
        }

        public KeyLimit {
            Names.checkKey(text(kind) + " key", key);
            if (limit < 1 || limit > MAX_LIMIT)
                throw invalid("limit %d of key '%s' is not allowed: it must be between 1 and %d."
                        .formatted(limit, key, MAX_LIMIT));
            if (period != null && (period.compareTo(MIN_PERIOD) < 0 || period.compareTo(MAX_PERIOD) > 0))
                throw invalid("period %s of rate key '%s' is not allowed: it must be between 1 second and 1 day."
                        .formatted(period, key));
        }

        private static String text(Kind kind) {
            return kind.name().toLowerCase(Locale.ROOT);
        }

        /** Returns the option that sets this limit and its key, for messages. */
        private String option() {
            return "%sKey '%s'".formatted(text(kind), key);
        }
    }

    private final Due due;
    private final @Nullable Priority priority;
    private final @Nullable String uniqueKey;
    private final @Nullable Duration keyWindow;
    private final @Nullable String queue;
    private final @Nullable KeyLimit keyLimit;
    private final Run.Policy policy;

    private Enqueue(
            Due due,
            @Nullable Priority priority,
            @Nullable String uniqueKey,
            @Nullable Duration keyWindow,
            @Nullable String queue,
            @Nullable KeyLimit keyLimit,
            Run.Policy policy) {
        this.due = due;
        this.priority = priority;
        this.uniqueKey = uniqueKey;
        this.keyWindow = keyWindow;
        this.queue = queue;
        this.keyLimit = keyLimit;
        this.policy = policy;
    }

    /** Returns options for a run that is due immediately. */
    public static Enqueue now() {
        return after(Duration.ZERO);
    }

    /** Returns options for a run that is due after a delay of at most 100 years, measured by the database clock. */
    public static Enqueue after(Duration delay) {
        if (delay.isNegative() || delay.compareTo(MAX_DELAY) > 0)
            throw invalid("delay must be between 0 and 100 years (was %s).".formatted(delay));
        return new Enqueue(new Due.After(delay), null, null, null, null, null, Run.Policy.none());
    }

    /** Returns options for a run that is due at an instant. A past instant means immediately. */
    public static Enqueue at(Instant instant) {
        if (instant.isAfter(MAX_INSTANT) || instant.isBefore(Instant.EPOCH))
            throw invalid("instant must be between the years 1970 and 9999 (was %s).".formatted(instant));
        return new Enqueue(new Due.At(instant), null, null, null, null, null, Run.Policy.none());
    }

    /**
     * Returns options for a run that is due when another run of the project has ended. Until then it waits, and neither
     * a claim nor a limit counts it. If the other run has already ended, it is due immediately.
     */
    public static Enqueue afterRun(RunId run) {
        return afterAll(Set.of(run));
    }

    /** Like {@link #afterRun}, for a run that is due when all of these runs have ended, from 1 to 1,000. */
    public static Enqueue afterAll(Collection<RunId> runs) {
        Due due = new Due.AfterRuns(new LinkedHashSet<>(runs), OnFailure.CANCEL);
        return new Enqueue(due, null, null, null, null, null, Run.Policy.none());
    }

    /**
     * Sets what happens if an awaited run does not succeed. Default: {@link OnFailure#CANCEL}.
     *
     * @throws CarillonException with {@link ErrorCode#INVALID_OPTION} if the run waits for no other run
     */
    public Enqueue onFailure(OnFailure onFailure) {
        if (!(due instanceof Due.AfterRuns after))
            throw invalid("onFailure(%s) needs a run to wait for. Begin with Enqueue.afterRun or Enqueue.afterAll."
                    .formatted(onFailure));
        return new Enqueue(
                new Due.AfterRuns(after.runs(), onFailure), priority, uniqueKey, keyWindow, queue, keyLimit, policy);
    }

    /** Sets the priority of the run. Default: the priority of the handler. */
    public Enqueue priority(Priority priority) {
        return new Enqueue(due, priority, uniqueKey, keyWindow, queue, keyLimit, policy);
    }

    /**
     * Sets a unique key. At most one run of the handler with this key exists at a time, waiting or running, in any
     * queue; for webhooks to an endpoint, at most one run of the endpoint. Another enqueue returns {@link
     * EnqueueResult.Duplicate}.
     */
    public Enqueue uniqueKey(String key) {
        return new Enqueue(due, priority, Names.checkKey("unique key", key), null, queue, keyLimit, policy);
    }

    /**
     * Like {@link #uniqueKey(String)}, but the key is also held for a minimum time after the enqueue, even if the run
     * ends earlier. Another enqueue with a window returns {@link EnqueueResult.Duplicate} with the id of this run.
     *
     * @param window between 1 second and 366 days
     */
    public Enqueue uniqueKey(String key, Duration window) {
        if (window.compareTo(MIN_WINDOW) < 0 || window.compareTo(MAX_WINDOW) > 0)
            throw invalid("window %s of unique key '%s' is not allowed: it must be between 1 second and 366 days."
                    .formatted(window, key));
        return new Enqueue(due, priority, Names.checkKey("unique key", key), window, queue, keyLimit, policy);
    }

    /** Sets the queue of the run. Default: the queue of the handler. */
    public Enqueue queue(String queue) {
        return new Enqueue(due, priority, uniqueKey, keyWindow, Names.check("queue", queue), keyLimit, policy);
    }

    /**
     * Sets how often and after which delays the run is retried. Default: {@link io.carillon.HandlerOptions#retry} of
     * the handler, or the setting of the webhook endpoint.
     */
    public Enqueue retry(Retry retry) {
        return new Enqueue(due, priority, uniqueKey, keyWindow, queue, keyLimit, policy.withRetry(retry));
    }

    /**
     * Sets how long one attempt of the run may take, from 1 ms to 30 days. Default:
     * {@link io.carillon.HandlerOptions#timeout} of the handler.
     */
    public Enqueue timeout(Duration timeout) {
        return new Enqueue(due, priority, uniqueKey, keyWindow, queue, keyLimit, policy.withTimeout(timeout));
    }

    /** Allows only one run with this key to execute at a time in the cluster. */
    public Enqueue concurrencyKey(String key) {
        return concurrencyKey(key, 1);
    }

    /** Allows only {@code limit} runs with this key to execute at a time in the cluster. */
    public Enqueue concurrencyKey(String key, int limit) {
        return keyLimit(new KeyLimit(KeyLimit.Kind.CONCURRENCY, key, limit, null));
    }

    /**
     * Executes runs with this key one after the other, in the order in which they were stored. The next run starts
     * after the previous run has ended, including its retries.
     */
    public Enqueue fifoKey(String key) {
        return keyLimit(new KeyLimit(KeyLimit.Kind.FIFO, key, 1, null));
    }

    /** Allows only {@code starts} runs with this key to start within any {@code period}, in the cluster. */
    public Enqueue rateKey(String key, int starts, Duration period) {
        return keyLimit(new KeyLimit(KeyLimit.Kind.RATE, key, starts, period));
    }

    private Enqueue keyLimit(KeyLimit wanted) {
        if (keyLimit != null)
            throw invalid("A run can have only one of concurrencyKey, fifoKey and rateKey (has %s, cannot add %s)."
                    .formatted(keyLimit.option(), wanted.option()));
        return new Enqueue(due, priority, uniqueKey, keyWindow, queue, wanted, policy);
    }

    /** Returns when the run is due. */
    public Due due() {
        return due;
    }

    /** Returns the priority of the run; null for the priority of the handler. */
    public @Nullable Priority priority() {
        return priority;
    }

    /** Returns the unique key; null if the run has none. */
    public @Nullable String uniqueKey() {
        return uniqueKey;
    }

    /** Returns how long the unique key is held at least; null if it is held until the run ends. */
    public @Nullable Duration keyWindow() {
        return keyWindow;
    }

    /** Returns the queue of the run; null for the queue of the handler. */
    public @Nullable String queue() {
        return queue;
    }

    /** Returns how often and after which delays the run is retried; null for the setting of the handler. */
    public @Nullable Retry retry() {
        return policy.retry();
    }

    /** Returns how long one attempt may take; null for the setting of the handler. */
    public @Nullable Duration timeout() {
        return policy.timeout();
    }

    /** Returns the limit of the concurrency key, FIFO key or rate key; null if the run has no such key. */
    public @Nullable KeyLimit keyLimit() {
        return keyLimit;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Enqueue that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "Enqueue[due=%s, priority=%s, uniqueKey=%s, keyWindow=%s, queue=%s, keyLimit=%s, retry=%s, timeout=%s]"
                .formatted(values().toArray());
    }

    private List<@Nullable Object> values() {
        return Arrays.asList(due, priority, uniqueKey, keyWindow, queue, keyLimit, policy.retry(), policy.timeout());
    }

    private static CarillonException invalid(String what) {
        return new CarillonException(ErrorCode.INVALID_OPTION, what);
    }
}
