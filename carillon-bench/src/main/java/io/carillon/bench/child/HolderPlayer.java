package io.carillon.bench.child;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.ours.Job;
import io.carillon.bench.ours.OurDrain;
import io.carillon.run.Attempt;
import io.carillon.run.RunListener;
import io.carillon.run.Transition;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A node whose handlers hold their runs until they are told to let go; it knows how much heap that takes. */
final class HolderPlayer implements ChildMain.Player, RunListener {
    private final CountDownLatch release = new CountDownLatch(1);
    private final AtomicInteger held = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private @Nullable HikariDataSource pool;
    private @Nullable Carillon node;

    @Override
    public String answer(String command, List<String> words) {
        if (command.equals("start")) return start(words);
        if (command.equals("held")) return String.valueOf(held.get());
        if (command.equals("heap")) return String.valueOf(usedHeap());
        if (command.equals("ended")) return String.valueOf(ended.get());
        if (!command.equals("release")) throw new IllegalArgumentException("Unknown command " + command);
        release.countDown();
        return "released";
    }

    private String start(List<String> words) {
        HikariDataSource opened = ChildMain.address(words).pool(OurDrain.POOL);
        pool = opened;
        node = Carillon.on(opened)
                .handle(Job.TYPE, (job, run) -> {
                    held.incrementAndGet();
                    release.await();
                })
                .concurrency(Integer.parseInt(words.get(3)))
                .listener(this)
                .start();
        return "started";
    }

    @Override
    public boolean quick() {
        return true;
    }

    @Override
    public void ended(Attempt attempt, Transition transition, Duration took) {
        ended.incrementAndGet();
    }

    /** After a collection: what is really needed. */
    private static long usedHeap() {
        Runtime runtime = Runtime.getRuntime();
        System.gc();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    @Override
    public void close() {
        release.countDown();
        Carillon running = node;
        if (running != null) running.close();
        HikariDataSource opened = pool;
        if (opened != null) opened.close();
    }
}
