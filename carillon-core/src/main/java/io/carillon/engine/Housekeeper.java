package io.carillon.engine;

import io.carillon.store.Housekeeping;
import java.time.Duration;
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
        int created = house.keepPartitions(DAYS_AHEAD);
        house.keepRoom();
        int dropped = house.dropHistory(retention.history());
        int purged = house.purge(retention.deadRuns(), DEAD_NODES);
        if (created + dropped + purged > 0)
            log.info("cleaned partitionsCreated={} partitionsDropped={} rowsPurged={}", created, dropped, purged);
    }
}
