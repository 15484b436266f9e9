package io.carillon.engine;

import io.carillon.store.Housekeeping;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps partitions ahead and tables small. Every node does it; each step is idempotent. */
final class Housekeeper extends Loop {
    private static final Logger log = LoggerFactory.getLogger(Housekeeper.class);
    private static final int DAYS_AHEAD = 7;
    private static final Duration EVERY = Duration.ofMinutes(10);
    private static final Duration DEAD_NODES = Duration.ofHours(1);

    private final Housekeeping house;
    private final EngineConfig.Retention retention;
    private boolean first = true;

    Housekeeper(Housekeeping house, EngineConfig.Retention retention) {
        super("housekeep", true);
        this.house = house;
        this.retention = retention;
    }

    @Override
    void turn() throws InterruptedException {
        if (first) {
            // The partitions of this week exist since the start; the rest can wait a random while, so that nodes do not
            // clean together.
            first = false;
            sleep(ThreadLocalRandom.current().nextLong(EVERY.toNanos()));
            return;
        }
        clean();
        sleep(EVERY.toNanos());
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

    private static void note(String what, int count) {
        if (count > 0) log.info("cleaned what='{}' count={}", what, count);
    }
}
