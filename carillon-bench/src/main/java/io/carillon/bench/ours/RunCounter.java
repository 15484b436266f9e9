package io.carillon.bench.ours;

import io.carillon.Carillon;
import io.carillon.bench.measure.ArrivalCounter;
import io.carillon.bench.measure.Waiting;
import io.carillon.spi.RunEvent;
import io.carillon.spi.RunListener;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** Counts the handlers that a node has started and the endings that are stored in the database. */
public final class RunCounter implements RunListener {
    private final ArrivalCounter arrivals;
    private final AtomicInteger ended = new AtomicInteger();
    private volatile long lastNanos;

    public RunCounter(int jobs) {
        this.arrivals = new ArrivalCounter(jobs);
    }

    /** Starts a node with default settings whose handler only counts. */
    public Carillon start(DataSource pool) {
        return start(pool, Duration.ZERO);
    }

    /** Starts a node with default settings whose handler counts and waits. */
    public Carillon start(DataSource pool, Duration handler) {
        return Carillon.on(pool)
                .handle(BenchPayload.TYPE, (benchPayload, run) -> {
                    arrivals.arrived(benchPayload.number());
                    if (!handler.isZero()) Waiting.sleep(handler);
                })
                .listener(this)
                .start();
    }

    @Override
    public boolean isNonBlocking() {
        return true;
    }

    @Override
    public void onRunEvent(RunEvent event) {
        if (!(event instanceof RunEvent.AttemptEnded)) return;
        lastNanos = System.nanoTime();
        ended.incrementAndGet();
    }

    public int ended() {
        return ended.get();
    }

    public int missing() {
        return arrivals.missing();
    }

    public int distinct() {
        return arrivals.distinct();
    }

    public int duplicates() {
        return arrivals.duplicates();
    }

    public long firstNanos() {
        return arrivals.firstNanos();
    }

    public long lastNanos() {
        return lastNanos;
    }

    /** Returns the seconds from the first start to the last ending. */
    public double seconds() {
        return (lastNanos - arrivals.firstNanos()) / 1e9;
    }
}
