package io.carillon.internal.engine.stats;

import io.carillon.internal.engine.loop.BoundedWait;
import io.carillon.internal.engine.loop.Loop;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** Writes the counts of this process every few seconds, from the first count on, and once more at the end. */
public final class StatsWriter implements Loop.Task {
    private static final long INTERVAL_NANOS = Duration.ofSeconds(5).toNanos();

    private final StatsRecorder recorder;
    private final Loop loop = new Loop("stats", true, this);
    private final AtomicBoolean started = new AtomicBoolean();
    private final AtomicInteger callsThatWrite = new AtomicInteger();

    public StatsWriter(StatsRecorder recorder) {
        this.recorder = recorder;
    }

    /** Starts the thread if it does not run yet. During {@link #withoutThread} a later count starts it. */
    public void startOnce() {
        if (callsThatWrite.get() > 0) return;
        if (loop.isOpen() && started.compareAndSet(false, true)) loop.start();
    }

    /** Executes a call that writes the counts itself: the process may end or be frozen after it. */
    public <T> T withoutThread(Supplier<T> call) {
        callsThatWrite.incrementAndGet();
        try {
            return call.get();
        } finally {
            callsThatWrite.decrementAndGet();
        }
    }

    @Override
    public void runRound() throws InterruptedException {
        loop.sleep(INTERVAL_NANOS);
        recorder.write();
    }

    /** Writes what is left and stops. */
    public void stop(BoundedWait boundedWait) {
        Loop.stopAll(List.of(loop), boundedWait);
    }
}
