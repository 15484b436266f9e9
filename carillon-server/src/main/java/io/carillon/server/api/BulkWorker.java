package io.carillon.server.api;

import io.carillon.server.http.Fields;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Troubles;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.BulkRepository;
import io.carillon.server.store.BulkRepository.Kept;
import io.carillon.server.store.BulkRepository.Place;
import io.carillon.server.store.BulkRepository.State;
import io.carillon.value.PublicId;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Goes on with the bulk actions of all projects, a thousand runs at a time: what is done to them and the count of it commit together. So nothing is done twice
 * and nothing left out, whichever node goes on with it.
 */
public final class BulkWorker {
    static final String PREFIX = "blk";

    private static final Logger log = LoggerFactory.getLogger(BulkWorker.class);
    /** How long the actions of a node that died are left alone at most. */
    private static final Duration LOOK = Duration.ofSeconds(5);

    private final House house;
    private final BulkRepository actions;
    private final Semaphore called = new Semaphore(0);

    public BulkWorker(House house) {
        this.house = house;
        this.actions = house.tables().bulk();
    }

    /** There is something new. */
    void call() {
        called.release();
    }

    /** Waits for work, for a while, and does all there is. */
    public void round() throws InterruptedException {
        if (called.tryAcquire(LOOK.toMillis(), TimeUnit.MILLISECONDS)) called.drainPermits();
        Set<Place> putOff = new HashSet<>();
        try {
            while (step(putOff)) if (Thread.interrupted()) throw new InterruptedException("closing");
        } catch (RuntimeException failure) {
            log.warn("bulk actions failed; will retry", failure);
        }
    }

    /** One part of each action that is not put off; false: there is nothing to do that nobody else does. */
    private boolean step(Set<Place> putOff) {
        boolean any = false;
        for (Place place : actions.running()) if (!putOff.contains(place)) any |= part(place, putOff);
        return any;
    }

    private boolean part(Place place, Set<Place> putOff) {
        List<Runnable> hints = new ArrayList<>();
        try {
            boolean worked = house.transactions().in(place.project(), connection -> {
                hints.clear();
                Kept kept = actions.take(connection, place).orElse(null);
                if (kept == null) return false;
                int done = house.carillon()
                        .project(place.project())
                        .in(connection, hints::add)
                        .runs()
                        .bulk(kept.order().filter())
                        .chunk(kept.order().deed(), kept.createdAt());
                actions.advance(connection, place, done);
                if (done == 0) end(connection, place, kept, State.DONE, null);
                return true;
            });
            hints.forEach(Runnable::run);
            return worked;
        } catch (RuntimeException failure) {
            Problem problem = Troubles.of(failure);
            if (problem.status() == 503) {
                if (!house.transactions().reachable()) throw failure;
                // Such as a run that another transaction keeps locked: that concerns this action only.
                putOff.add(place);
                log.warn(
                        "bulk action interrupted; will retry project={} id={} cause={}",
                        place.project(),
                        place.id(),
                        failure.getMessage());
                return false;
            }
            log.warn("bulk action failed project={} id={}", place.project(), place.id(), failure);
            fail(place, problem.code());
            return true;
        }
    }

    private void fail(Place place, String code) {
        house.transactions().in(place.project(), connection -> {
            Kept kept = actions.take(connection, place).orElse(null);
            if (kept != null) end(connection, place, kept, State.FAILED, code);
            return place;
        });
    }

    private void end(Connection connection, Place place, Kept kept, State state, @Nullable String reason)
            throws SQLException {
        actions.end(connection, place, state, reason);
        long done = actions.advance(connection, place, 0);
        house.tables()
                .audit()
                .write(
                        connection,
                        place.project(),
                        new AuditRepository.Change(
                                kept.order().actor(),
                                "bulk.end",
                                "bulk/" + PublicId.format(PREFIX, place.id()),
                                "{\"state\":\"%s\",\"done\":%d}".formatted(Fields.wordOf(state), done),
                                kept.order().request()));
    }
}
