package io.carillon.bench.ours;

import io.carillon.Carillon;
import io.carillon.bench.measure.Roll;
import io.carillon.run.Attempt;
import io.carillon.run.RunListener;
import io.carillon.run.Transition;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** Counts what a node does: handlers that started, and endings that are in the database. */
public final class Tally implements RunListener {
    private final Roll roll;
    private final AtomicInteger ended = new AtomicInteger();
    private volatile long lastNanos;

    public Tally(int jobs) {
        this.roll = new Roll(jobs);
    }

    /** A node with the shipped settings whose handler does nothing but count. */
    public Carillon start(DataSource pool) {
        return Carillon.on(pool)
                .handle(Job.TYPE, (job, run) -> roll.here(job.number()))
                .listener(this)
                .start();
    }

    @Override
    public boolean quick() {
        return true;
    }

    @Override
    public void ended(Attempt attempt, Transition transition, Duration took) {
        lastNanos = System.nanoTime();
        ended.incrementAndGet();
    }

    public int ended() {
        return ended.get();
    }

    public int missing() {
        return roll.missing();
    }

    public int present() {
        return roll.present();
    }

    public int twice() {
        return roll.twice();
    }

    public long firstNanos() {
        return roll.firstNanos();
    }

    public long lastNanos() {
        return lastNanos;
    }

    /** From the first start to the last ending. */
    public double seconds() {
        return (lastNanos - roll.firstNanos()) / 1e9;
    }
}
