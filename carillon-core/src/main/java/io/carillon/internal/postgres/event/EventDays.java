package io.carillon.internal.postgres.event;

import io.carillon.internal.postgres.partition.Partitions;
import io.carillon.internal.store.event.EventToStore;
import java.time.LocalDate;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The days whose partitions are known to exist. A publish in the transaction of a caller needs them before it begins:
 * an insert that finds no partition would abort that transaction, and a savepoint for each publish would cost more than
 * the insert.
 */
public final class EventDays {
    private final Partitions partitions;
    private final Set<LocalDate> known = ConcurrentHashMap.newKeySet();

    /** {@code partitions} creates partitions in transactions of its own. */
    public EventDays(Partitions partitions) {
        this.partitions = partitions;
    }

    void ensure(List<EventToStore> events) {
        for (EventToStore event : events) {
            ensure(event.day());
            if (event.publishId() != null) ensure(event.day().minusDays(1));
        }
    }

    private void ensure(LocalDate day) {
        if (known.contains(day)) return;
        partitions.create(day);
        known.add(day);
    }
}
