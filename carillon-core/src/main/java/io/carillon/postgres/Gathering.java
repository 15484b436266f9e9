package io.carillon.postgres;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Lets threads that write one row each share a commit: whoever comes while others write waits, and is written with all who wait. A thread alone waits for
 * nobody. There is no thread of its own: one of the callers writes for all, and a row that the database refuses spoils nobody else's.
 */
final class Gathering<Q, A> {
    private static final int MOST = 500;

    private final Function<List<Q>, List<A>> write;
    private final ConcurrentLinkedQueue<Asked<Q, A>> queue = new ConcurrentLinkedQueue<>();
    private final Semaphore writers;

    /** One caller and what becomes of its row. */
    private static final class Asked<Q, A> {
        private final Q question;
        private final Thread thread = Thread.currentThread();
        private volatile @Nullable A answer;
        private volatile @Nullable Throwable failure;

        Asked(Q question) {
            this.question = question;
        }

        boolean open() {
            return answer == null && failure == null;
        }
    }

    /** {@code write} answers each row, in order, in one transaction; so many of them at a time. */
    Gathering(int writers, Function<List<Q>, List<A>> write) {
        this.writers = new Semaphore(writers);
        this.write = write;
    }

    A add(Q question) {
        Asked<Q, A> mine = new Asked<>(question);
        queue.add(mine);
        // Storing is over in a moment, and others may depend on this thread: an interrupt is kept for the caller.
        boolean interrupted = Thread.interrupted();
        while (mine.open()) {
            if (writers.tryAcquire()) lead();
            else LockSupport.park(this);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) Thread.currentThread().interrupt();
        return answered(mine);
    }

    private void lead() {
        try {
            List<Asked<Q, A>> group = new ArrayList<>();
            for (Asked<Q, A> next = queue.poll(); next != null; next = queue.poll()) {
                group.add(next);
                if (group.size() == MOST) break;
            }
            if (!group.isEmpty()) writeAll(group);
        } finally {
            writers.release();
            // Who came meanwhile found all writers busy and sleeps: the first of them writes next.
            Asked<Q, A> next = queue.peek();
            if (next != null) LockSupport.unpark(next.thread);
        }
    }

    private void writeAll(List<Asked<Q, A>> group) {
        try {
            List<A> answers =
                    write.apply(group.stream().map(asked -> asked.question).toList());
            for (int i = 0; i < group.size(); i++) group.get(i).answer = answers.get(i);
        } catch (StorageException refused) {
            if (group.size() > 1
                    && (refused.rowAtFault() || Thread.currentThread().isInterrupted())) alone(group);
            else group.forEach(one -> one.failure = refused);
        } catch (Throwable failure) {
            group.forEach(one -> one.failure = failure);
        } finally {
            group.forEach(one -> {
                if (one.thread != Thread.currentThread()) LockSupport.unpark(one.thread);
            });
        }
    }

    /** Each for itself; writing again what was written already changes nothing. */
    private void alone(List<Asked<Q, A>> group) {
        boolean interrupted = Thread.interrupted();
        group.forEach(one -> writeAll(List.of(one)));
        if (interrupted) Thread.currentThread().interrupt();
    }

    private static <Q, A> A answered(Asked<Q, A> mine) {
        A answer = mine.answer;
        if (answer != null) return answer;
        // Each caller gets an exception of its own, with its own stack.
        if (mine.failure instanceof StorageException refused) throw refused.again();
        if (mine.failure instanceof Error error) throw error;
        throw (RuntimeException) java.util.Objects.requireNonNull(mine.failure);
    }
}
