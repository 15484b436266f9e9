package io.carillon.bench.child;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.spi.RunEvent;
import io.carillon.spi.RunListener;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A node whose handlers wait until they are released. Reports the heap that this takes. */
final class HolderChild implements ChildMain.CommandHandler, RunListener {
    private final CountDownLatch release = new CountDownLatch(1);
    private final AtomicInteger held = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private @Nullable HikariDataSource pool;
    private @Nullable Carillon node;

    @Override
    public String handle(String command, List<String> words) {
        if (command.equals("start")) return start(words);
        if (command.equals("held")) return String.valueOf(held.get());
        if (command.equals("heap")) return String.valueOf(usedHeap());
        if (command.equals("ended")) return String.valueOf(ended.get());
        if (!command.equals("release")) throw new IllegalArgumentException("Unknown command: " + command);
        release.countDown();
        return "released";
    }

    private String start(List<String> words) {
        HikariDataSource opened = ChildMain.address(words).pool(CarillonDrain.POOL);
        pool = opened;
        node = Carillon.on(opened)
                .handle(BenchPayload.TYPE, (benchPayload, run) -> {
                    held.incrementAndGet();
                    release.await();
                })
                .concurrency(Integer.parseInt(words.get(3)))
                .listener(this)
                .start();
        return "started";
    }

    @Override
    public boolean isNonBlocking() {
        return true;
    }

    @Override
    public void onRunEvent(RunEvent event) {
        if (event instanceof RunEvent.AttemptEnded) ended.incrementAndGet();
    }

    /** Returns the used heap after a garbage collection. */
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
