package io.carillon.internal.engine.node;

import io.carillon.NodeConfig;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.store.MaintenanceStore;
import io.carillon.internal.store.TableStats;
import io.carillon.internal.value.ControlCharacters;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates partitions ahead of time and keeps tables small. Every node does this; each step is idempotent. */
public final class Maintenance implements Loop.Task {
    private static final Logger log = LoggerFactory.getLogger(Maintenance.class);
    private final Loop loop = new Loop("maintenance", true, this);
    private static final int DAYS_AHEAD = 7;
    private static final Duration INTERVAL = Duration.ofMinutes(10);
    private static final Duration DEAD_NODE_RETENTION = Duration.ofHours(1);
    private static final Duration MINUTES_RETENTION = Duration.ofDays(2);
    private static final Duration HOURS_RETENTION = Duration.ofDays(90);
    /**
     * The number of ended runs after which this node checks the tables. Autovacuum checks a table only once a minute;
     * by then a queue with tens of thousands of runs per second has outgrown the cache.
     */
    private static final int MIN_ENDED = 20_000;

    /** Runs that end now are in the partition of today; late ticks are in that of their day. */
    private static final int RECENT_DAYS = 1;

    private static final int ALL_DAYS = 10_000;

    private static final long TABLE_CHECK_NANOS = Duration.ofSeconds(5).toNanos();

    private final MaintenanceStore store;
    private final NodeConfig config;
    private final LongSupplier endedCount;
    private boolean first = true;
    private long endedAtLastCheck;
    /** Dead rows that the last vacuum could not remove because an older transaction may still see them. */
    private long unremovable;

    /** {@code endedCount} returns how many attempts this node has ended. */
    public Maintenance(MaintenanceStore store, NodeConfig config, LongSupplier endedCount) {
        this.store = store;
        this.config = config;
        this.endedCount = endedCount;
    }

    /** Returns the thread that repeats this task. */
    public Loop loop() {
        return loop;
    }

    @Override
    public void runRound() throws InterruptedException {
        if (first) {
            // The partitions of this week exist since the start. A random first delay keeps nodes from cleaning at the
            // same time.
            first = false;
            sleepAndCheckTables(ThreadLocalRandom.current().nextLong(INTERVAL.toNanos()));
            return;
        }
        clean();
        sleepAndCheckTables(INTERVAL.toNanos());
    }

    private void sleepAndCheckTables(long nanos) throws InterruptedException {
        long until = System.nanoTime() + nanos;
        for (long left = nanos; left > 0 && loop.isOpen(); left = until - System.nanoTime()) {
            if (loop.sleep(Math.min(left, TABLE_CHECK_NANOS))) return;
            checkTablesIfNeeded();
        }
    }

    /** Summarizes and vacuums if this node has ended many runs since the last time. */
    void checkTablesIfNeeded() {
        long now = endedCount.getAsLong();
        if (now - endedAtLastCheck < MIN_ENDED) return;
        endedAtLastCheck = now;
        try {
            store.summarizeHistory(RECENT_DAYS);
        } catch (RuntimeException failure) {
            log.info("new history not summarized; left to autovacuum error={}", ControlCharacters.escape(failure));
        }
        vacuumIfNeeded();
    }

    /**
     * Vacuums if there are many dead rows, and more dead than live ones. If rows could not be removed, waits until
     * there are twice as many.
     */
    private void vacuumIfNeeded() {
        TableStats stats = store.tableStats();
        unremovable = Math.min(unremovable, stats.deadRows());
        if (stats.deadRows() < Math.max(MIN_ENDED, Math.max(stats.liveRows(), 2 * unremovable))) return;
        unremovable = stats.deadRows();
        try {
            store.vacuumRuns();
        } catch (RuntimeException failure) {
            log.info(
                    "vacuum of ended runs failed; left to autovacuum rows={} error={}",
                    stats.deadRows(),
                    ControlCharacters.escape(failure));
            return;
        }
        unremovable = store.tableStats().deadRows();
        log.debug("ended runs vacuumed rows={} left={}", stats.deadRows(), unremovable);
    }

    /** Prepares the tables. Called once before the loops start. */
    public void prepare() {
        store.ensurePartitions(DAYS_AHEAD);
        store.reservePages();
    }

    void clean() {
        List<Runnable> steps = List.of(
                () -> logCount("partitions created", store.ensurePartitions(DAYS_AHEAD)),
                store::reservePages,
                () -> store.summarizeHistory(ALL_DAYS),
                () -> logCount("partitions dropped", store.dropHistory(config.historyRetention())),
                () -> logCount("event partitions dropped", store.dropEvents(config.eventRetention())),
                () -> logCount("rows purged", store.purge(config.deadRunRetention(), DEAD_NODE_RETENTION)),
                () -> logCount("statistics removed", store.maintainStats(MINUTES_RETENTION, HOURS_RETENTION)));
        runAll(steps.iterator());
    }

    /** Runs all steps. A step that fails, even for weeks, does not prevent the others. */
    private static void runAll(Iterator<Runnable> steps) {
        if (!steps.hasNext()) return;
        try {
            steps.next().run();
        } finally {
            runAll(steps);
        }
    }

    /**
     * Waits until a heartbeat reports that a newer version has changed the schema so that this version may no longer
     * use it. Then the node stops claiming and planning. Running attempts continue, and the operator restarts the
     * process with the newer version. This runs on its own thread because stopping may take long.
     */
    public static final class SchemaWatch implements Loop.Task {
        private final Loop loop = new Loop("schema", true, this);
        private static final long LONG_NANOS = Duration.ofDays(1).toNanos();

        private final Supplier<Optional<String>> outdated;
        private final Runnable stop;
        private volatile boolean checkRequested;
        private boolean stopped;

        public SchemaWatch(Supplier<Optional<String>> outdated, Runnable stop) {
            this.outdated = outdated;
            this.stop = stop;
        }

        /** Requests a check because a heartbeat reported a schema change. */
        public void requestCheck() {
            checkRequested = true;
            loop.wake();
        }

        /** Returns the thread that repeats this task. */
        public Loop loop() {
            return loop;
        }

        @Override
        public void runRound() throws InterruptedException {
            if (!checkRequested || stopped) loop.sleep(LONG_NANOS);
            if (!checkRequested || stopped || !loop.isOpen()) return;
            checkRequested = false;
            outdated.get().ifPresent(why -> {
                stopped = true;
                log.error(
                        "schema needs a newer version; node stops claiming and planning reason={}",
                        ControlCharacters.escape(why));
                stop.run();
            });
        }
    }

    private static void logCount(String what, int count) {
        if (count > 0) log.info("maintenance step done step='{}' count={}", what, count);
    }
}
