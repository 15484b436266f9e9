package io.carillon.internal.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A commit that is shared by threads that write one row each. A thread that arrives while others write waits, and is
 * written together with all waiting threads. A thread that is alone does not wait. There is no extra thread: one of the
 * callers writes for all. A row that PostgreSQL rejects affects no other row.
 */
public final class GroupCommit<Q, A> {
    private static final int MAX_GROUP_SIZE = 500;
    private static final Duration MAX_WAIT = Duration.ofDays(1);

    private final Function<List<Q>, List<A>> write;
    private final ConcurrentLinkedQueue<PendingWrite<Q, A>> queue = new ConcurrentLinkedQueue<>();
    private final Semaphore writers;

    /** One caller and the result for its row. */
    private static final class PendingWrite<Q, A> {
        private final Q request;
        private final Thread thread = Thread.currentThread();
        private final AtomicBoolean taken = new AtomicBoolean();
        private volatile @Nullable A result;
        private volatile @Nullable Throwable failure;

        PendingWrite(Q question) {
            this.request = question;
        }

        boolean isPending() {
            return result == null && failure == null;
        }

        /** Takes this row: for a group, or back by its caller. Only the first attempt succeeds. */
        boolean take() {
            return taken.compareAndSet(false, true);
        }
    }

    /**
     * {@code write} writes a group in one transaction and returns one result for each row, in order; {@code writers}
     * groups are written at the same time.
     */
    public GroupCommit(int writers, Function<List<Q>, List<A>> write) {
        this.writers = new Semaphore(writers);
        this.write = write;
    }

    public A submit(Q request) {
        return submit(request, MAX_WAIT).orElseThrow();
    }

    /**
     * Like {@link #submit(Object)}, but returns empty, and writes nothing, if no group has taken the row for this long.
     */
    public Optional<A> submit(Q request, Duration maxWait) {
        PendingWrite<Q, A> mine = new PendingWrite<>(request);
        queue.add(mine);
        long began = System.nanoTime();
        boolean withdrawn = false;
        // The write is short, and other threads may depend on this one: the interrupt is kept for the caller.
        boolean interrupted = Thread.interrupted();
        while (mine.isPending() && !withdrawn) {
            // A row that was taken is written by another thread; looking for further groups would only use the CPU.
            if (!mine.taken.get() && writers.tryAcquire()) writeNextGroup();
            else withdrawn = !waitForWriter(mine, maxWait.toNanos() - (System.nanoTime() - began));
            interrupted |= Thread.interrupted();
        }
        if (interrupted) Thread.currentThread().interrupt();
        if (!withdrawn) return Optional.of(resultOf(mine));
        queue.remove(mine);
        // A writer that has just finished may have woken this thread instead of the next one.
        wakeNext();
        return Optional.empty();
    }

    /** Returns false if the time is over and this thread has taken its row back. */
    private boolean waitForWriter(PendingWrite<Q, A> mine, long nanos) {
        if (nanos <= 0 && mine.take()) return false;
        if (nanos > 0) LockSupport.parkNanos(this, nanos);
        else LockSupport.park(this);
        return true;
    }

    private void writeNextGroup() {
        try {
            List<PendingWrite<Q, A>> group = new ArrayList<>();
            for (PendingWrite<Q, A> next = queue.poll(); next != null; next = queue.poll()) {
                if (next.take()) group.add(next);
                if (group.size() == MAX_GROUP_SIZE) break;
            }
            if (!group.isEmpty()) writeAll(group);
        } finally {
            writers.release();
            wakeNext();
        }
    }

    /** Threads that arrived meanwhile found all writers busy and wait: the first of them writes next. */
    private void wakeNext() {
        PendingWrite<Q, A> next = queue.peek();
        if (next != null) LockSupport.unpark(next.thread);
    }

    private void writeAll(List<PendingWrite<Q, A>> group) {
        try {
            List<A> answers = write.apply(
                    group.stream().map(pendingWrite -> pendingWrite.request).toList());
            for (int i = 0; i < group.size(); i++) group.get(i).result = answers.get(i);
        } catch (StorageException refused) {
            if (group.size() > 1
                    && (refused.isRowError() || Thread.currentThread().isInterrupted())) writeSeparately(group);
            else group.forEach(one -> one.failure = refused);
        } catch (Throwable failure) {
            group.forEach(one -> one.failure = failure);
        } finally {
            group.forEach(one -> {
                if (one.thread != Thread.currentThread()) LockSupport.unpark(one.thread);
            });
        }
    }

    /** Writes each row separately; writing a row again that is stored already changes nothing. */
    private void writeSeparately(List<PendingWrite<Q, A>> group) {
        boolean interrupted = Thread.interrupted();
        group.forEach(one -> writeAll(List.of(one)));
        if (interrupted) Thread.currentThread().interrupt();
    }

    private static <Q, A> A resultOf(PendingWrite<Q, A> mine) {
        A answer = mine.result;
        if (answer != null) return answer;
        // Each caller gets its own exception, with its own stack trace.
        if (mine.failure instanceof StorageException refused) throw refused.copyForCaller();
        if (mine.failure instanceof Error error) throw error;
        throw (RuntimeException) java.util.Objects.requireNonNull(mine.failure);
    }
}
