package io.carillon.internal.engine.attempt;

import io.carillon.internal.engine.listener.AttemptListener;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.internal.store.run.GateName;
import io.carillon.internal.store.run.RunStore;
import io.carillon.internal.store.run.WriteResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the ends of attempts in groups: while one group is being committed, the next one collects. A group that could
 * not be written is kept and written again. The fence makes the repetition harmless.
 */
public final class Completer extends Loop implements AttemptRunner.ResultSink {
    private static final Logger log = LoggerFactory.getLogger(Completer.class);
    private static final int MAX_GROUP = 1_000;
    private static final long LOCKED_RETRY_NANOS = 100_000_000L;

    /** An attempt and its end to write; a null end means that the attempt is handed back. */
    private record PendingCompletion(
            ActiveAttempt activeAttempt, @Nullable EndedAttempt endedAttempt) {}

    private final RunStore runs;
    private final ActiveAttempts activeAttempts;
    private final AttemptListener listener;
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
    private volatile Runnable onWritten = () -> {};
    private volatile BiConsumer<Attempt, Duration> onRetryScheduled = (attempt, pause) -> {};
    private volatile Consumer<GateName> onGateReleased = gate -> {};
    private volatile BiConsumer<Lane, Transition> onEnded = (lane, transition) -> {};

    public Completer(RunStore runs, ActiveAttempts activeAttempts, AttemptListener listener) {
        super("complete", true);
        this.runs = runs;
        this.activeAttempts = activeAttempts;
        this.listener = listener;
    }

    /** Sets the action that runs after each group, when slots and claim capacity may be free again. */
    public void onWritten(Runnable action) {
        onWritten = action;
    }

    /** Sets the action that runs for each run that becomes ready again after a delay. */
    public void onRetryScheduled(BiConsumer<Attempt, Duration> action) {
        onRetryScheduled = action;
    }

    /**
     * Sets the action that runs for each ended attempt whose run has a gate, because the gate may let the
     * next run through.
     */
    public void onGateReleased(Consumer<GateName> action) {
        onGateReleased = action;
    }

    /** Sets the action that runs for each attempt that has ended. */
    public void onEnded(BiConsumer<Lane, Transition> action) {
        onEnded = action;
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
        reportEnded(activeAttempt.attemptValue(), transition);
        notifyListener(activeAttempt.attemptValue(), transition, activeAttempt);
        onWritten.run();
    }

    private void add(PendingCompletion write) {
        queue.add(write);
        if (backlog.getAndIncrement() == 0) wake();
    }

    /** Returns how many ends wait to be written. */
    public int backlog() {
        return backlog.get() + lockedCount;
    }

    /** Returns how many attempts were ended since the start. */
    public long endedCount() {
        return endedCount.sum();
    }

    @Override
    public void runRound() throws InterruptedException {
        if (!locked.isEmpty() && System.nanoTime() - lastLockedRetry >= LOCKED_RETRY_NANOS) retryLocked();
        if (group.isEmpty()) group = takeGroup();
        if (group.isEmpty()) {
            sleep(locked.isEmpty() ? 1_000_000_000L : LOCKED_RETRY_NANOS);
            return;
        }
        write(group);
        backlog.addAndGet(-group.size());
        group = List.of();
        resultKnown.clear();
        onWritten.run();
    }

    private List<PendingCompletion> takeGroup() {
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
        Set<PendingCompletion> stillLocked = new LinkedHashSet<>(locked);
        for (int i = 0; i < results.size(); i++) {
            stillLocked.remove(writes.get(i));
            if (results.get(i) == WriteResult.LOCKED) {
                resultKnown.add(writes.get(i).activeAttempt);
                stillLocked.add(writes.get(i));
            } else applyResult(writes.get(i).activeAttempt, ended.get(i), results.get(i));
        }
        if (locked.isEmpty() && !stillLocked.isEmpty())
            log.warn(
                    "run locked by another transaction; ending delayed runs={} first={}",
                    stillLocked.size(),
                    stillLocked.iterator().next().activeAttempt.id());
        locked = List.copyOf(stillLocked);
        lockedCount = stillLocked.size();
    }

    private void retryLocked() {
        lastLockedRetry = System.nanoTime();
        byOwner(locked).forEach((owner, mine) -> apply(owner, mine, false));
        onWritten.run();
    }

    private void applyResult(ActiveAttempt activeAttempt, EndedAttempt endedAttempt, WriteResult result) {
        resultKnown.add(activeAttempt);
        if (result == WriteResult.ACCEPTED) activeAttempts.remove(activeAttempt);
        else activeAttempts.removeUnconfirmed(activeAttempt);
        if (result == WriteResult.ACCEPTED) {
            if (endedAttempt.transition() instanceof Transition.Retry retry)
                onRetryScheduled.accept(activeAttempt.attemptValue(), retry.delay());
            if (endedAttempt.transition() instanceof Transition.Snooze snooze)
                onRetryScheduled.accept(activeAttempt.attemptValue(), snooze.delay());
            reportEnded(activeAttempt.attemptValue(), endedAttempt.transition());
            notifyListener(activeAttempt.attemptValue(), endedAttempt.transition(), activeAttempt);
        } else
            log.warn(
                    "result discarded; another node owns the run or has ended it run={} attempt={}",
                    activeAttempt.id(),
                    activeAttempt.attempt());
    }

    private void reportEnded(Attempt attempt, Transition transition) {
        endedCount.increment();
        onEnded.accept(attempt.lane(), transition);
        String gate = attempt.gate();
        if (gate != null) onGateReleased.accept(new GateName(attempt.lane().project(), gate));
    }

    private void notifyListener(Attempt attempt, Transition transition, ActiveAttempt activeAttempt) {
        listener.onAttemptEnded(attempt, transition, activeAttempt.sinceStart());
    }
}
