package io.carillon.internal.engine.attempt;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.RetryRule;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.internal.value.DatabaseClock;
import io.carillon.internal.value.TextCleaner;
import io.carillon.run.Progress;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunContext;
import io.carillon.run.RunId;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** An attempt that this node owns, from the claim until its end is written. The handler sees it as its run context. */
public final class ActiveAttempt implements RunContext {
    private static final int LOG_LIMIT = 64 * 1024;
    /** How much of the log can be read while the attempt runs: each change of it is written with a heartbeat. */
    private static final int RECENT_LOG = 8 * 1024;

    /** The reason why an attempt was asked to stop. */
    public enum StopCause {
        CANCELLED,
        TIMED_OUT,
        NODE_STOPPING,
        LEASE_LOST
    }

    private final UUID owner;
    private final Attempt attempt;
    private final DatabaseClock clock;
    private final StringBuilder log = new StringBuilder();
    private volatile @Nullable String delivery;
    private volatile boolean successForBreaker;
    /** The retry settings that the handler chose for this attempt; null if it chose none. */
    private volatile @Nullable Retry chosenRetry;

    private volatile boolean awaitsAnswer;
    private volatile boolean waits;
    private boolean ignoresCancel;
    private volatile boolean endsOnCancel;
    /** The retry settings of a workflow, which win over all others; null for other runs. */
    private volatile @Nullable Retry workflowRetry;
    /** The transactions of the steps of a workflow. */
    private volatile @Nullable TransactionalCalls transactions;

    private volatile long startNanos;
    private volatile Duration timeout = Duration.ZERO;
    private volatile @Nullable Thread thread;
    private volatile @Nullable StopCause stopCause;
    private volatile String stopMessage = "";
    private volatile @Nullable Progress progress;
    private volatile boolean longRunning;
    private volatile boolean transactional;
    private volatile long stopNanos;
    private volatile boolean abandoned;
    /** The number of the claim record in the store that lists this attempt. */
    private volatile long claimNumber;

    private final Set<Thread> helpers = new HashSet<>();
    private boolean endDecided;

    public ActiveAttempt(UUID owner, Attempt attempt, DatabaseClock clock) {
        this.owner = owner;
        this.attempt = attempt;
        this.clock = clock;
    }

    public UUID owner() {
        return owner;
    }

    long claimNumber() {
        return claimNumber;
    }

    public void claimNumber(long number) {
        claimNumber = number;
    }

    public Attempt attemptValue() {
        return attempt;
    }

    /**
     * Returns how late the attempt starts: for a tick, the time since its planned instant, even if its due time was
     * moved since; for any other run, the time since its due time.
     */
    Duration startDelay() {
        Duration since = Duration.between(attempt.times().expectedAt(attempt.origin()), clock.now());
        return since.isNegative() ? Duration.ZERO : since;
    }

    /** Attaches the current thread and starts the timeout: that of the run, or else that of the handler. */
    synchronized void begin(Duration ofHandler) {
        Duration ofRun = attempt.policy().timeout();
        timeout = ofRun == null ? ofHandler : ofRun;
        startNanos = System.nanoTime();
        attachThread();
    }

    /**
     * Makes the current thread the one that executes the handler. Until the handler begins, the thread waits for the
     * resources that the handler needs, and a stop ends that wait.
     */
    synchronized void attachThread() {
        thread = Thread.currentThread();
        if (stopCause != null) Thread.currentThread().interrupt();
    }

    void useTransactions(TransactionalCalls ofNode) {
        transactions = ofNode;
    }

    /** Returns what gives a workflow the transactions for its steps. */
    public TransactionalCalls transactions() {
        return Objects.requireNonNull(transactions);
    }

    /** Detaches the thread after the handler returned. From now on no stop interrupts this thread. */
    synchronized void detachThread() {
        thread = null;
    }

    /**
     * Calls {@code write} on the thread of the handler or on a helper, and keeps the interrupt of a stop away from it
     * until it has returned.
     */
    public <T, E extends Exception> T withoutInterrupt(Write<T, E> write) throws E {
        boolean helps = detachHelper();
        if (!helps) detachThread();
        Thread.interrupted();
        try {
            return write.run();
        } finally {
            if (helps) attachHelper();
            else attachThread();
        }
    }

    /** A write to the database that must not be interrupted. */
    @FunctionalInterface
    public interface Write<T, E extends Exception> {
        T run() throws E;
    }

    /** Makes the current thread one that executes steps of a workflow beside its own thread. A stop interrupts it. */
    public synchronized void attachHelper() {
        helpers.add(Thread.currentThread());
        if (stopCause != null) Thread.currentThread().interrupt();
    }

    /** Returns whether the current thread was attached as a helper. From now on no stop interrupts it. */
    public synchronized boolean detachHelper() {
        return helpers.remove(Thread.currentThread());
    }

    /** Asks the handler to stop and interrupts its thread. If several calls give a cause, the first one is kept. */
    public synchronized void stop(StopCause cause, String message) {
        if (stopCause != null || (ignoresCancel && cause == StopCause.CANCELLED)) return;
        stopMessage = message;
        stopNanos = System.nanoTime();
        stopCause = cause;
        Thread running = thread;
        if (running != null) running.interrupt();
        helpers.forEach(Thread::interrupt);
    }

    /** From now on, a cancel does not stop this attempt, and neither does one that came before. */
    public synchronized void ignoreCancel() {
        ignoresCancel = true;
        if (stopCause != StopCause.CANCELLED) return;
        stopCause = null;
        Thread.interrupted();
    }

    /** Says that a workflow has nothing to undo, so that a cancel may end its run with this attempt. */
    public void endOnCancel() {
        endsOnCancel = true;
    }

    boolean endsOnCancel() {
        return endsOnCancel;
    }

    /** Sets retry settings that win over those of the run: the workflow decides itself how often it is tried. */
    public void retryByWorkflow(Retry retry) {
        workflowRetry = retry;
    }

    /** Returns true exactly once: the caller that gets true decides how this attempt ends. */
    public synchronized boolean tryEnd() {
        boolean first = !endDecided;
        endDecided = true;
        return first;
    }

    /** Returns whether the handler has returned and only the end of the attempt is left to be written. */
    public synchronized boolean isFinished() {
        return endDecided && thread == null;
    }

    @Nullable
    public StopCause stopCause() {
        return stopCause;
    }

    String stopMessage() {
        return stopMessage;
    }

    public boolean isStarted() {
        return startNanos != 0;
    }

    public Duration sinceStart() {
        return startNanos == 0 ? Duration.ZERO : Duration.ofNanos(System.nanoTime() - startNanos);
    }

    /** Returns how long ago the attempt was asked to stop. */
    Duration sinceStop() {
        return Duration.ofNanos(System.nanoTime() - stopNanos);
    }

    /** Returns whether user code is executing. */
    public boolean isRunning() {
        return thread != null;
    }

    /** Gives up the slot of this attempt while its thread continues. Returns true once. */
    synchronized boolean abandon() {
        boolean first = !abandoned && thread != null;
        if (first) abandoned = true;
        return first;
    }

    public boolean isAbandoned() {
        return abandoned;
    }

    Duration timeout() {
        return timeout;
    }

    /**
     * Returns the rule for a failure: with the retry settings of the run, or else those that the handler chose for this
     * attempt, or else those of the handler.
     */
    public RetryRule retryRule(RetryRule ofHandler) {
        Retry ofWorkflow = workflowRetry;
        if (ofWorkflow != null) return ofHandler.withPolicy(ofWorkflow);
        Retry ofRun = attempt.policy().retry();
        Retry chosen = ofRun == null ? chosenRetry : ofRun;
        return chosen == null ? ofHandler : ofHandler.withPolicy(chosen);
    }

    boolean isTransactional() {
        return transactional;
    }

    /** Marks the attempt as one whose handler also needs a slot for a transaction. */
    void markTransactional() {
        transactional = true;
    }

    /**
     * Marks the attempt as one of a workflow that waits for a signal or a run: after its end is written, the node looks
     * whether the answer is there.
     */
    public void markAwaitingAnswer() {
        awaitsAnswer = true;
    }

    public boolean awaitsAnswer() {
        return awaitsAnswer;
    }

    /** Marks the attempt as one of a workflow that waits. */
    public void markWaiting() {
        waits = true;
    }

    public boolean isLongRunning() {
        return longRunning;
    }

    void markLongRunning() {
        longRunning = true;
    }

    @Nullable
    Progress latestProgress() {
        return progress;
    }

    /** Returns the values to write about this attempt for the given transition. */
    EndedAttempt toEndedAttempt(Transition transition, boolean keepPayload) {
        return new EndedAttempt(attempt, written(transition), sinceStart(), logText(), keepPayload, delivery);
    }

    /** The row of the first attempt says when the run started, and a row with a log shows it. */
    private Transition written(Transition transition) {
        return waits
                        && transition instanceof Transition.Snooze snooze
                        && attempt() > 1
                        && logText() == null
                        && delivery == null
                ? new Transition.Snooze(snooze.delay(), true)
                : transition;
    }

    @Nullable
    String logText() {
        synchronized (log) {
            return log.isEmpty() ? null : log.toString();
        }
    }

    @Override
    public void recordDelivery(String text) {
        delivery = TextCleaner.clean(text);
    }

    @Override
    public void countAsSuccessForBreaker() {
        successForBreaker = true;
    }

    /** Returns whether the breaker counts the attempt as a success, however it ends. */
    public boolean isSuccessForBreaker() {
        return successForBreaker;
    }

    @Override
    public RunId id() {
        return attempt.run();
    }

    @Override
    public String project() {
        return attempt.lane().project();
    }

    @Override
    public Instant now() {
        return clock.now();
    }

    @Override
    public int attempt() {
        return attempt.number();
    }

    @Override
    public int failures() {
        return attempt.counts().failures();
    }

    @Override
    public Run.Policy policy() {
        return attempt.policy();
    }

    @Override
    public void retryBy(Retry retry) {
        chosenRetry = retry;
    }

    @Override
    public Optional<Instant> plannedAt() {
        return Optional.ofNullable(attempt.times().plannedAt());
    }

    @Override
    public Instant dueAt() {
        return attempt.times().dueAt();
    }

    @Override
    public Instant deadline() {
        return clock.now().plus(timeout).minus(sinceStart());
    }

    @Override
    public boolean isStopRequested() {
        return stopCause != null;
    }

    @Override
    public void reportProgress(long done, long total) {
        progress = new Progress(done, total);
    }

    @Override
    public void log(String line) {
        synchronized (log) {
            if (log.length() >= LOG_LIMIT) return;
            log.append(TextCleaner.clean(line)).append('\n');
            if (log.length() >= LOG_LIMIT) {
                log.setLength(LOG_LIMIT - 32);
                log.append("… (log truncated at 64 KiB)\n");
            }
        }
    }

    /** Returns the end of the log, in whole lines; null if it is empty. */
    @Nullable
    String recentLog() {
        synchronized (log) {
            if (log.length() <= RECENT_LOG) return log.isEmpty() ? null : log.toString();
            int line = log.indexOf("\n", log.length() - RECENT_LOG) + 1;
            return log.substring(line > 0 && line < log.length() ? line : log.length() - RECENT_LOG);
        }
    }

    @Override
    public String idempotencyKey() {
        return attempt.idempotencyKey();
    }
}
