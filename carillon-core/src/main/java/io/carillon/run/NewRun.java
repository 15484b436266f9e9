package io.carillon.run;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A run about to be stored. */
public record NewRun(
        RunId id,
        Lane lane,
        Priority priority,
        Origin origin,
        Target target,
        Payload payload,
        Enqueue.Due due,
        @Nullable String key,
        @Nullable UUID schedule,
        @Nullable Gate gate) {
    /** One that waits behind no gate. */
    public NewRun(
            RunId id,
            Lane lane,
            Priority priority,
            Origin origin,
            Target target,
            Payload payload,
            Enqueue.Due due,
            @Nullable String key,
            @Nullable UUID schedule) {
        this(id, lane, priority, origin, target, payload, due, key, schedule, null);
    }
}
