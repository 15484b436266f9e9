package io.carillon.internal.engine.attempt;

import io.carillon.internal.engine.listener.AttemptListener;
import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.internal.store.run.RunStore;
import io.carillon.internal.store.run.RunWaitStore;
import io.carillon.internal.store.run.WriteResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the ends of attempts in groups: while one group is being committed, the next one collects. A group that could
 * not be written is kept and written again. The fence makes the repetition harmless.
 */
public final class Completer implements Loop.Task, AttemptRunner.ResultSink {
    private static final Logger log = LoggerFactory.getLogger(Completer.class);
    private final Loop loop = new Loop("complete", true, this);
    private static final int MAX_GROUP = 1_000;
    /** A group this large is written immediately: larger groups cost hardly less per end. */
    static final int LARGE_GROUP = 100;
    /** How long a smaller group collects after the previous one was begun, while attempts wait for a slot. */
    private static final long GATHER_NANOS = Duration.ofMillis(5).toNanos();

    private static final long LOCKED_RETRY_NANOS = 100_000_000L;

    /** An attempt and its end to write; a null end means that the attempt is handed back. */
    private record PendingCompletion(
            ActiveAttempt activeAttempt, @Nullable EndedAttempt endedAttempt) {}

    private final RunStore runs;
    private final ActiveAttempts activeAttempts;
    private final AttemptListener listener;
    private final LoopReports reports;
    private final BooleanSupplier attemptsWait;
    private final LongSupplier nanoTime;
    private final ConcurrentLinkedQueue<PendingCompletion> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger backlog = new AtomicInteger();
    /**
     * Attempts of the current group whose write result is known. If the group is written again after a failure, they
     * are not reported twice.
     */
    private final Set<ActiveAttempt> resultKnown = new HashSet<>();

    /**
     * Ends of runs that another transaction has locked. They are retried separately, so that other ends do not
     * wait for them.
     */
    private List<PendingCompletion> locked = List.of();

    private volatile int lockedCount;
    private long lastLockedRetry;
    private final LongAdder endedCount = new LongAdder();
    private List<PendingCompletion> group = List.of();
    private long lastGroup;
    /** Whether an end waits that something else waits for. */
    private volatile boolean urgent;

    /** {@code attemptsWait} says whether claimed attempts wait for a slot, so that no slot waits for a written end. */
    public Completer(
            RunStore runs,
            ActiveAttempts activeAttempts,
            AttemptListener listener,
            LoopReports reports,
            BooleanSupplier attemptsWait) {
        this(runs, activeAttempts, listener, reports, attemptsWait, System::nanoTime);
    }

    Completer(
            RunStore runs,
            ActiveAttempts activeAttempts,
            AttemptListener listener,
            LoopReports reports,
            BooleanSupplier attemptsWait,
            LongSupplier nanoTime) {
        this.runs = runs;
        this.activeAttempts = activeAttempts;
        this.listener = listener;
        this.reports = reports;
        this.attemptsWait = attemptsWait;
        this.nanoTime = nanoTime;
        this.lastGroup = nanoTime.getAsLong() - GATHER_NANOS;
    }

    @Override
    public void submit(ActiveAttempt activeAttempt, EndedAttempt endedAttempt) {
        add(new PendingCompletion(activeAttempt, endedAttempt));
    }

    @Override
    public void handBack(ActiveAttempt activeAttempt) {
        add(new PendingCompletion(activeAttempt, null));
    }

    @Override
    public void handleCommitted(ActiveAttempt activeAttempt, Transition transition) {
        activeAttempts.remove(activeAttempt);
        reportEnded(activeAttempt, transition);
        reports.onEndsWritten();
    }

    private void add(PendingCompletion write) {
        queue.add(write);
        ActiveAttempt activeAttempt = write.activeAttempt;
        if (write.endedAttempt == null || activeAttempt.attemptValue().gate() != null) urgent = true;
        int before = backlog.getAndIncrement();
        if (before == 0 || before == LARGE_GROUP || urgent) loop.wake();
    }

    /** Returns how many ends wait to be written. */
    public int backlog() {
        return backlog.get() + lockedCount;
    }

    /** Returns how many attempts were ended since the start. */
    public long endedCount() {
        return endedCount.sum();
    }

    /** Returns the thread that repeats this task. */
    public Loop loop() {
        return loop;
    }

    @Override
    public void runRound() throws InterruptedException {
        if (!locked.isEmpty() && nanoTime.getAsLong() - lastLockedRetry >= LOCKED_RETRY_NANOS) retryLocked();
        if (group.isEmpty()) {
            long untilFull = gatherNanos();
            if (untilFull > 0) {
                loop.sleep(untilFull);
                return;
            }
            group = takeGroup();
        }
        if (group.isEmpty()) {
            loop.sleep(locked.isEmpty() ? 1_000_000_000L : LOCKED_RETRY_NANOS);
            return;
        }
        write(group);
        backlog.addAndGet(-group.size());
        group = List.of();
        resultKnown.clear();
        reports.onEndsWritten();
    }

    /**
     * Returns how long the next group still collects. A small group costs almost as much as a large one. An end does
     * not wait if a gate or a hand-back needs it, if the node has nothing else to do, or if it is alone.
     */
    private long gatherNanos() {
        int waiting = backlog.get();
        if (waiting == 0 || waiting > LARGE_GROUP || urgent || !attemptsWait.getAsBoolean()) return 0;
        return lastGroup + GATHER_NANOS - nanoTime.getAsLong();
    }

    private List<PendingCompletion> takeGroup() {
        lastGroup = nanoTime.getAsLong();
        urgent = false;
        List<PendingCompletion> writes = new ArrayList<>();
        for (PendingCompletion next = queue.poll(); next != null; next = queue.poll()) {
            writes.add(next);
            if (writes.size() == MAX_GROUP) break;
        }
        return writes;
    }

    private void write(List<PendingCompletion> writes) {
        byOwner(writes).forEach((owner, mine) -> {
            List<PendingCompletion> decided = mine.stream()
                    .filter(one -> one.endedAttempt != null && !resultKnown.contains(one.activeAttempt))
                    .toList();
            // While one row is locked, others may be locked too; do not wait for the lock of each of them.
            apply(owner, decided, locked.isEmpty());
            activeAttempts.handBack(
                    runs,
                    owner,
                    mine.stream()
                            .filter(one -> one.endedAttempt == null)
                            .map(PendingCompletion::activeAttempt)
                            .toList());
        });
    }

    private static Map<UUID, List<PendingCompletion>> byOwner(List<PendingCompletion> writes) {
        Map<UUID, List<PendingCompletion>> byOwner = new LinkedHashMap<>();
        for (PendingCompletion write : writes)
            byOwner.computeIfAbsent(write.activeAttempt.owner(), o -> new ArrayList<>())
                    .add(write);
        return byOwner;
    }

    private void apply(UUID owner, List<PendingCompletion> writes, boolean wait) {
        if (writes.isEmpty()) return;
        List<EndedAttempt> ended = writes.stream()
                .map(PendingCompletion::endedAttempt)
                .map(java.util.Objects::requireNonNull)
                .toList();
        List<WriteResult> results = wait ? runs.apply(owner, ended) : runs.applyUnlocked(owner, ended);
        List<PendingCompletion> stillLocked = new ArrayList<>();
        // Attempts are compared, because comparing ends would hash their payloads.
        Set<ActiveAttempt> tried = locked.isEmpty()
                ? Set.of()
                : writes.stream().map(PendingCompletion::activeAttempt).collect(Collectors.toSet());
        for (PendingCompletion one : locked) if (!tried.contains(one.activeAttempt)) stillLocked.add(one);
        for (int i = 0; i < results.size(); i++) {
            if (results.get(i) == WriteResult.LOCKED) {
                resultKnown.add(writes.get(i).activeAttempt);
                stillLocked.add(writes.get(i));
            } else applyResult(writes.get(i).activeAttempt, ended.get(i), results.get(i));
        }
        if (locked.isEmpty() && !stillLocked.isEmpty())
            log.warn(
                    "run locked by another transaction; ending delayed runs={} first={}",
                    stillLocked.size(),
                    stillLocked.get(0).activeAttempt.id());
        locked = List.copyOf(stillLocked);
        lockedCount = stillLocked.size();
    }

    private void retryLocked() {
        lastLockedRetry = nanoTime.getAsLong();
        byOwner(locked).forEach((owner, mine) -> apply(owner, mine, false));
        reports.onEndsWritten();
    }

    private void applyResult(ActiveAttempt activeAttempt, EndedAttempt endedAttempt, WriteResult result) {
        resultKnown.add(activeAttempt);
        if (result == WriteResult.ACCEPTED) activeAttempts.remove(activeAttempt);
        else activeAttempts.removeUnconfirmed(activeAttempt);
        if (result == WriteResult.ACCEPTED) reportEnded(activeAttempt, endedAttempt.transition());
        else
            log.warn(
                    "result discarded; another node owns the run or has ended it run={} attempt={}",
                    activeAttempt.id(),
                    activeAttempt.attempt());
    }

    private void reportEnded(ActiveAttempt activeAttempt, Transition transition) {
        endedCount.increment();
        Attempt attempt = activeAttempt.attemptValue();
        reports.onAttemptEnded(attempt, transition, activeAttempt.isSuccessForBreaker());
        if (activeAttempt.awaitsAnswer() && transition instanceof Transition.Snooze)
            reports.onWorkflowParked(new RunWaitStore.RunKey(attempt.lane().project(), attempt.run()));
        listener.onAttemptEnded(attempt, transition, activeAttempt.sinceStart());
    }
}
