package io.carillon.internal.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
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

    private final Function<List<Q>, List<A>> write;
    private final ConcurrentLinkedQueue<PendingWrite<Q, A>> queue = new ConcurrentLinkedQueue<>();
    private final Semaphore writers;

    /** One caller and the result for its row. */
    private static final class PendingWrite<Q, A> {
        private final Q request;
        private final Thread thread = Thread.currentThread();
        private volatile @Nullable A result;
        private volatile @Nullable Throwable failure;

        PendingWrite(Q question) {
            this.request = question;
        }

        boolean isPending() {
            return result == null && failure == null;
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
        PendingWrite<Q, A> mine = new PendingWrite<>(request);
        queue.add(mine);
        // The write is short, and other threads may depend on this one: the interrupt is kept for the caller.
        boolean interrupted = Thread.interrupted();
        while (mine.isPending()) {
            if (writers.tryAcquire()) writeNextGroup();
            else LockSupport.park(this);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) Thread.currentThread().interrupt();
        return resultOf(mine);
    }

    private void writeNextGroup() {
        try {
            List<PendingWrite<Q, A>> group = new ArrayList<>();
            for (PendingWrite<Q, A> next = queue.poll(); next != null; next = queue.poll()) {
                group.add(next);
                if (group.size() == MAX_GROUP_SIZE) break;
            }
            if (!group.isEmpty()) writeAll(group);
        } finally {
            writers.release();
            // Threads that arrived meanwhile found all writers busy and wait: the first of them writes next.
            PendingWrite<Q, A> next = queue.peek();
            if (next != null) LockSupport.unpark(next.thread);
        }
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
