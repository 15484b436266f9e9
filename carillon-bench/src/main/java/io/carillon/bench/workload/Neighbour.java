package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.Pace;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.ours.Job;
import io.carillon.bench.ours.OurDrain;
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

/** One project has very many runs waiting; what that costs a single run of another, from the call of its enqueue to its start. */
final class Neighbour implements Workload {
    private static final String FLOOD = "flood";
    private static final int AT_ONCE = 50_000;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Override
    public String name() {
        return "neighbour";
    }

    @Override
    public String about() {
        return "a single run of one project, alone and beside a million runs of another that wait";
    }

    /** What the many do: nothing, or half a minute of waiting unless they are let go. */
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

    record Piece(int millis) {}

    private static final HandlerType<Piece> PIECE = HandlerType.of("bench.piece", Piece.class);

    @Override
    public Findings run(Stage stage) throws Exception {
        Findings findings = new Findings();
        for (Backlog backlog : Backlog.values()) {
            stage.progress().say("storing " + backlog.text);
            int runs = backlog == Backlog.LONG ? 10_000 : stage.profile().pick(20_000, 1_000_000, 1_000_000);
            try (BenchDatabase database = stage.server().migrated();
                    HikariDataSource pool = database.pool(OurDrain.POOL);
                    Street street = new Street(pool, stage.profile().pick(5, 60, 100))) {
                street.store(backlog, runs);
                database.settle();
                rows(stage, findings, backlog, street);
            }
        }
        return findings;
    }

    private static void rows(Stage stage, Findings findings, Backlog backlog, Street street) {
        street.calls(); // the first ones are slow
        double[] alone = new double[stage.rounds()];
        double[] beside = new double[stage.rounds()];
        for (int round = 0; round < stage.rounds(); round++) {
            stage.progress().say("beside %s, round %d of %d".formatted(backlog.text, round + 1, stage.rounds()));
            street.hold();
            alone[round] = street.calls().median();
            street.letGo(backlog);
            beside[round] = street.calls().median();
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
                                        Text.millis(Samples.of(beside).median()),
                                        Text.millis(Samples.of(alone).median())),
                        ratio <= 2)
                .note("medians, from the call of the enqueue to the start"));
    }

    /** A node and two projects on it. The backlog is held back and let go in turn, so that both see the same machine. */
    private static final class Street implements AutoCloseable {
        private final Random random = new Random(42);
        private final int calls;
        private final AtomicLong flooded = new AtomicLong();
        private final AtomicInteger live = new AtomicInteger();
        private final AtomicLongArray started = new AtomicLongArray(10_000);
        private final Carillon node;
        private volatile CountDownLatch end = new CountDownLatch(1);
        private int next;

        Street(HikariDataSource pool, int calls) {
            this.calls = calls;
            node = Carillon.on(pool)
                    .handle(PIECE, (piece, run) -> flood(piece), options -> options.queue(FLOOD))
                    .handle(Job.TYPE, (job, run) -> started.set(job.number(), System.nanoTime()))
                    .start();
        }

        void store(Backlog backlog, int runs) {
            node.queues().pause(FLOOD);
            for (int left = runs; left > 0; left -= AT_ONCE)
                node.enqueueAll(
                        PIECE, Collections.nCopies(Math.min(left, AT_ONCE), new Piece(backlog.millis)), Enqueue.now());
        }

        private void flood(Piece piece) throws InterruptedException {
            flooded.incrementAndGet();
            if (piece.millis() == 0) return;
            live.incrementAndGet();
            try {
                boolean early = end.await(piece.millis(), TimeUnit.MILLISECONDS);
                if (!early) flooded.incrementAndGet();
            } finally {
                live.decrementAndGet();
            }
        }

        void hold() {
            node.queues().pause(FLOOD);
            end.countDown();
            Pace.sleep(Duration.ofSeconds(1));
            Pace.require("The end of what runs", () -> live.get() == 0, PATIENCE);
            end = new CountDownLatch(1);
        }

        void letGo(Backlog backlog) {
            long before = flooded.get();
            node.queues().resume(FLOOD);
            Pace.require(
                    "The start of the others",
                    () -> flooded.get() - before >= (backlog == Backlog.LONG ? 40 : 1_000),
                    PATIENCE);
            // Who is let go before is taken for short.
            if (backlog == Backlog.LONG) Pace.sleep(Duration.ofMillis(1_500));
        }

        Samples calls() {
            double[] millis = new double[calls];
            for (int i = 0; i < calls; i++) {
                int number = next++;
                long from = System.nanoTime();
                node.project("neighbour").enqueue(Job.TYPE, Job.of(number));
                Pace.require("The start of run " + number, () -> started.get(number) != 0, PATIENCE);
                millis[i] = (started.get(number) - from) / 1e6;
                Pace.sleep(Duration.ofNanos(5_000_000L + random.nextInt(5_000_000)));
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
