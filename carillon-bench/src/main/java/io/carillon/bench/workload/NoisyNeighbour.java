package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import java.time.Duration;
import java.util.Collections;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Measures the effect of very many waiting runs of one project on a single run of another project, from the call of its
 * enqueue to its start.
 */
final class NoisyNeighbour implements Workload {
    private static final String FLOOD = "flood";
    private static final int BATCH = 50_000;
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @Override
    public String name() {
        return "neighbour";
    }

    @Override
    public String about() {
        return "a single run of one project, alone and beside a million waiting runs of another";
    }

    /** The runs of the backlog: they do nothing, or wait for 30 seconds or until they are released. */
    private enum Backlog {
        NOTHING("a million runs that do nothing", 0),
        LONG("runs of half a minute in all slots that one queue may have", 30_000);

        private final String text;
        private final int millis;

        Backlog(String text, int millis) {
            this.text = text;
            this.millis = millis;
        }
    }

    record BacklogItem(int millis) {}

    private static final HandlerType<BacklogItem> BACKLOG_ITEM = HandlerType.of("bench.piece", BacklogItem.class);

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        Findings findings = new Findings();
        for (Backlog backlog : Backlog.values()) {
            context.progress().report("storing " + backlog.text);
            int runs = backlog == Backlog.LONG ? 10_000 : context.profile().choose(20_000, 1_000_000, 1_000_000);
            try (BenchDatabase database = context.server().migrated();
                    HikariDataSource pool = database.pool(CarillonDrain.POOL);
                    TwoProjectNode node =
                            new TwoProjectNode(pool, context.profile().choose(5, 60, 100))) {
                node.store(backlog, runs);
                database.analyzeAndCheckpoint();
                rows(context, findings, backlog, node);
            }
        }
        return findings;
    }

    private static void rows(WorkloadContext context, Findings findings, Backlog backlog, TwoProjectNode node) {
        node.measureCalls(); // warm-up
        double[] alone = new double[context.rounds()];
        double[] beside = new double[context.rounds()];
        for (int round = 0; round < context.rounds(); round++) {
            context.progress().report("beside %s, round %d of %d".formatted(backlog.text, round + 1, context.rounds()));
            node.hold();
            alone[round] = node.measureCalls().median();
            node.release(backlog);
            beside[round] = node.measureCalls().median();
        }
        for (double millis : alone) findings.figure("alone, ms", millis);
        for (double millis : beside) findings.figure("beside " + backlog.text + ", ms", millis);
        double ratio = Samples.of(beside).median() / Samples.of(alone).median();
        findings.add(Row.judged(
                        "beside " + backlog.text,
                        "<= 2x alone",
                        "%.1fx: %s against %s"
                                .formatted(
                                        ratio,
                                        FigureText.millis(Samples.of(beside).median()),
                                        FigureText.millis(Samples.of(alone).median())),
                        ratio <= 2)
                .note("medians, from the call of the enqueue to the start"));
    }

    /**
     * A node with two projects. The backlog is paused and released in turn, so that both measurements see the same
     * machine state.
     */
    private static final class TwoProjectNode implements AutoCloseable {
        private final Random random = new Random(42);
        private final int calls;
        private final AtomicLong flooded = new AtomicLong();
        private final AtomicInteger live = new AtomicInteger();
        private final AtomicLongArray started = new AtomicLongArray(10_000);
        private final Carillon node;
        private volatile CountDownLatch end = new CountDownLatch(1);
        private int next;

        TwoProjectNode(HikariDataSource pool, int calls) {
            this.calls = calls;
            node = Carillon.on(pool)
                    .handle(
                            BACKLOG_ITEM,
                            (backlogItem, run) -> runBacklogItem(backlogItem),
                            HandlerOptions.defaults().queue(FLOOD))
                    .handle(
                            BenchPayload.TYPE,
                            (benchPayload, run) -> started.set(benchPayload.number(), System.nanoTime()))
                    .start();
        }

        void store(Backlog backlog, int runs) {
            node.queues().pause(FLOOD);
            for (int left = runs; left > 0; left -= BATCH)
                node.enqueueAll(
                        BACKLOG_ITEM,
                        Collections.nCopies(Math.min(left, BATCH), new BacklogItem(backlog.millis)),
                        Enqueue.now());
        }

        private void runBacklogItem(BacklogItem item) throws InterruptedException {
            flooded.incrementAndGet();
            if (item.millis() == 0) return;
            live.incrementAndGet();
            try {
                boolean early = end.await(item.millis(), TimeUnit.MILLISECONDS);
                if (!early) flooded.incrementAndGet();
            } finally {
                live.decrementAndGet();
            }
        }

        void hold() {
            node.queues().pause(FLOOD);
            end.countDown();
            Waiting.sleep(Duration.ofSeconds(1));
            Waiting.require("The end of the running attempts", () -> live.get() == 0, TIMEOUT);
            end = new CountDownLatch(1);
        }

        void release(Backlog backlog) {
            long before = flooded.get();
            node.queues().resume(FLOOD);
            Waiting.require(
                    "The start of the backlog",
                    () -> flooded.get() - before >= (backlog == Backlog.LONG ? 40 : 1_000),
                    TIMEOUT);
            // Runs that are released earlier would count as short runs.
            if (backlog == Backlog.LONG) Waiting.sleep(Duration.ofMillis(1_500));
        }

        Samples measureCalls() {
            double[] millis = new double[calls];
            for (int i = 0; i < calls; i++) {
                int number = next++;
                long from = System.nanoTime();
                node.project("neighbour").enqueue(BenchPayload.TYPE, BenchPayload.of(number));
                Waiting.require("The start of run " + number, () -> started.get(number) != 0, TIMEOUT);
                millis[i] = (started.get(number) - from) / 1e6;
                Waiting.sleep(Duration.ofNanos(5_000_000L + random.nextInt(5_000_000)));
            }
            return Samples.of(millis);
        }

        @Override
        public void close() {
            end.countDown();
            node.close();
        }
    }
}
