package io.carillon.engine;

import io.carillon.run.Attempt;
import io.carillon.run.Progress;
import io.carillon.run.RunContext;
import io.carillon.run.RunId;
import io.carillon.run.Transition;
import io.carillon.store.Ended;
import io.carillon.value.DatabaseClock;
import io.carillon.value.Text;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** An attempt this node holds, from claim to end; also what its handler sees of it. */
final class Held implements RunContext {
    private static final int LOG_LIMIT = 64 * 1024;

    /** Why an attempt was told to stop. */
    enum Stop {
        CANCELLED,
        TIMED_OUT,
        DRAINED,
        LOST
    }

    private final UUID owner;
    private final Attempt attempt;
    private final DatabaseClock clock;
    private final StringBuilder log = new StringBuilder();
    private volatile @Nullable String delivery;
    private volatile long startNanos;
    private volatile Duration timeout = Duration.ZERO;
    private volatile @Nullable Thread thread;
    private volatile @Nullable Stop stop;
    private volatile String stopReason = "";
    private volatile @Nullable Progress progress;
    private volatile boolean parked;
    private volatile boolean transactional;
    private volatile long stopNanos;
    private volatile boolean abandoned;
    /** The number of the claim under which the store has noted it. */
    private volatile long note;

    private boolean over;

    Held(UUID owner, Attempt attempt, DatabaseClock clock) {
        this.owner = owner;
        this.attempt = attempt;
        this.clock = clock;
    }

    UUID owner() {
        return owner;
    }

    long note() {
        return note;
    }

    void note(long number) {
        note = number;
    }

    Attempt attemptValue() {
        return attempt;
    }

    /** How late it starts: since the planned instant of a tick, whatever moved its due time meanwhile; since the due time of any other run. */
    Duration waited() {
        Duration since = Duration.between(attempt.times().expectedAt(attempt.origin()), clock.now());
        return since.isNegative() ? Duration.ZERO : since;
    }

    /** The timeout starts here. */
    synchronized void begin(Duration allowed) {
        timeout = allowed;
        startNanos = System.nanoTime();
        attach();
    }

    /** This thread will execute the handler; until that begins it waits for what the handler needs, and a stop ends the wait. */
    synchronized void attach() {
        thread = Thread.currentThread();
        if (stop != null) Thread.currentThread().interrupt();
    }

    /** The user's code is done: from here on nobody interrupts this thread any more. */
    synchronized void finish() {
        thread = null;
    }

    /** Tells the handler to stop. The first reason stays. */
    synchronized void stop(Stop why, String reason) {
        if (stop != null) return;
        stopReason = reason;
        stopNanos = System.nanoTime();
        stop = why;
        Thread running = thread;
        if (running != null) running.interrupt();
    }

    /** Whoever gets true, once, decides how this attempt ends. */
    synchronized boolean end() {
        boolean first = !over;
        over = true;
        return first;
    }

    /** Whether only its end is left to be written: its handler does nothing any more. */
    synchronized boolean over() {
        return over && thread == null;
    }

    @Nullable
    Stop stopped() {
        return stop;
    }

    String stopReason() {
        return stopReason;
    }

    boolean started() {
        return startNanos != 0;
    }

    Duration sinceStart() {
        return startNanos == 0 ? Duration.ZERO : Duration.ofNanos(System.nanoTime() - startNanos);
    }

    /** How long ago it was told to stop. */
    Duration sinceStop() {
        return Duration.ofNanos(System.nanoTime() - stopNanos);
    }

    /** Whether user code is executing. */
    boolean running() {
        return thread != null;
    }

    /** Its slot is given up while its thread goes on; true once. */
    synchronized boolean abandon() {
        boolean first = !abandoned && thread != null;
        if (first) abandoned = true;
        return first;
    }

    boolean abandoned() {
        return abandoned;
    }

    Duration timeout() {
        return timeout;
    }

    boolean transactional() {
        return transactional;
    }

    /** Its handler needs a slot for a transaction. */
    void markTransactional() {
        transactional = true;
    }

    boolean parked() {
        return parked;
    }

    void markParked() {
        parked = true;
    }

    @Nullable
    Progress progressNow() {
        return progress;
    }

    /** What is written about this attempt once it was decided upon. */
    Ended ended(Transition transition, boolean keepPayload) {
        return new Ended(attempt, transition, sinceStart(), logText(), keepPayload, delivery);
    }

    @Nullable
    String logText() {
        synchronized (log) {
            return log.isEmpty() ? null : log.toString();
        }
    }

    @Override
    public void delivery(String text) {
        delivery = Text.clean(text);
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
    public boolean cancelled() {
        return stop != null;
    }

    @Override
    public void progress(long done, long total) {
        progress = new Progress(done, total);
    }

    @Override
    public void log(String line) {
        synchronized (log) {
            if (log.length() >= LOG_LIMIT) return;
            log.append(Text.clean(line)).append('\n');
            if (log.length() >= LOG_LIMIT) {
                log.setLength(LOG_LIMIT - 32);
                log.append("… (the log is full)\n");
            }
        }
    }

    @Override
    public String idempotencyKey() {
        return attempt.idempotencyKey();
    }
}
