package io.carillon.engine;

import io.carillon.store.Dust;
import io.carillon.store.Housekeeping;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps partitions ahead and tables small. Every node does it; each step is idempotent. */
final class Housekeeper extends Loop {
    private static final Logger log = LoggerFactory.getLogger(Housekeeper.class);
    private static final int DAYS_AHEAD = 7;
    private static final Duration EVERY = Duration.ofMinutes(10);
    private static final Duration DEAD_NODES = Duration.ofHours(1);
    /**
     * So many ended runs are worth a sweep of their own. PostgreSQL comes by itself once a minute, when a queue that moves tens of thousands a second has
     * outgrown its memory.
     */
    private static final int MANY = 100_000;

    private static final long SWEEP_NANOS = Duration.ofSeconds(5).toNanos();

    private final Housekeeping house;
    private final EngineConfig.Retention retention;
    private final LongSupplier ended;
    private boolean first = true;
    private long endedBefore;
    /** What the last sweep could not remove: some transaction is older than its end. */
    private long stuck;

    /** {@code ended}: how many attempts this node has ended. */
    Housekeeper(Housekeeping house, EngineConfig.Retention retention, LongSupplier ended) {
        super("housekeep", true);
        this.house = house;
        this.retention = retention;
        this.ended = ended;
    }

    @Override
    void turn() throws InterruptedException {
        if (first) {
            // The partitions of this week exist since the start; the rest can wait a random while, so that nodes do not
            // clean together.
            first = false;
            rest(ThreadLocalRandom.current().nextLong(EVERY.toNanos()));
            return;
        }
        clean();
        rest(EVERY.toNanos());
    }

    private void rest(long nanos) throws InterruptedException {
        long until = System.nanoTime() + nanos;
        for (long left = nanos; left > 0 && open(); left = until - System.nanoTime()) {
            if (sleep(Math.min(left, SWEEP_NANOS))) return;
            sweep();
        }
    }

    /** Where there are many dead rows and fewer living ones. What could not be removed is not tried again before there is twice as much. */
    void sweep() {
        long now = ended.getAsLong();
        if (now - endedBefore < MANY) return;
        endedBefore = now;
        Dust dust = house.dust();
        stuck = Math.min(stuck, dust.dead());
        if (dust.dead() < Math.max(MANY, Math.max(dust.living(), 2 * stuck))) return;
        stuck = dust.dead();
        try {
            house.sweepRuns();
        } catch (RuntimeException late) {
            log.info("ended runs could not be swept, autovacuum has to rows={} error={}", dust.dead(), late.toString());
            return;
        }
        stuck = house.dust().dead();
        log.debug("ended runs swept rows={} left={}", dust.dead(), stuck);
    }

    /** Called once before anything runs. */
    void prepare() {
        house.keepPartitions(DAYS_AHEAD);
        house.keepRoom();
    }

    void clean() {
        List<Runnable> steps = List.of(
                () -> note("partitions created", house.keepPartitions(DAYS_AHEAD)),
                house::keepRoom,
                () -> note("partitions dropped", house.dropHistory(retention.history())),
                () -> note("rows purged", house.purge(retention.deadRuns(), DEAD_NODES)));
        doAll(steps.iterator());
    }

    /** A step that fails, be it for weeks, keeps no other from being done. */
    private static void doAll(Iterator<Runnable> steps) {
        if (!steps.hasNext()) return;
        try {
            steps.next().run();
        } finally {
            doAll(steps);
        }
    }

    /**
     * Waits for a heartbeat that says that a newer version has changed the tables so that this one may no longer work on them. Then the node stops claiming and
     * planning; what runs goes on to its end, and the operator restarts the process with the newer version. On a thread of its own, because that may take long.
     */
    static final class SchemaWatch extends Loop {
        private static final long LONG_NANOS = Duration.ofDays(1).toNanos();

        private final Supplier<Optional<String>> outdated;
        private final Runnable stop;
        private volatile boolean due;
        private boolean stopped;

        SchemaWatch(Supplier<Optional<String>> outdated, Runnable stop) {
            super("schema", true);
            this.outdated = outdated;
            this.stop = stop;
        }

        /** A heartbeat has seen that the schema needs a newer version. */
        void due() {
            due = true;
            wake();
        }

        @Override
        void turn() throws InterruptedException {
            if (!due || stopped) sleep(LONG_NANOS);
            if (!due || stopped || !open()) return;
            due = false;
            outdated.get().ifPresent(why -> {
                stopped = true;
                log.error("schema needs a newer version; this node stops claiming why={}", why);
                stop.run();
            });
        }
    }

    private static void note(String what, int count) {
        if (count > 0) log.info("cleaned what='{}' count={}", what, count);
    }
}
